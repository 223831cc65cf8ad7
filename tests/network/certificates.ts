import { mustRun } from "../../scripts/support/process.ts";

/** A certificate and its private key, as PEM. */
export interface Certificate {
  cert: string;
  key: string;
}

const CONFIG = `
[req]
distinguished_name = name
[name]
[ca]
default_ca = authority
[authority]
database = database
new_certs_dir = .
certificate = ca.pem
serial = serial
unique_subject = no
default_md = sha256
copy_extensions = copy
policy = policy
[policy]
commonName = supplied
`;

/** An authority that makes certificates with `openssl`, in a folder of its own. */
export class Authority {
  private constructor(
    private readonly folder: string,
    private readonly name: string,
    /** The authority's own certificate, which those who trust it know. */
    readonly certificate: string,
  ) {}

  /** Makes an authority; its certificate is the file `ca.pem` of the folder, which this creates. */
  static async create(folder: string): Promise<Authority> {
    await Deno.mkdir(folder);
    await Deno.writeTextFile(`${folder}/config`, CONFIG);
    await Deno.writeTextFile(`${folder}/database`, "");
    await Deno.writeTextFile(`${folder}/serial`, "01\n");
    const name = crypto.randomUUID();
    await request(folder, name, "ca.pem", [
      "-x509",
      "-addext",
      "basicConstraints=critical,CA:TRUE",
    ]);
    return new Authority(folder, name, await Deno.readTextFile(`${folder}/ca.pem`));
  }

  /** Makes a certificate for a host, such as `IP:127.0.0.1`; it ends in 2001 or in 2049. */
  async issue(host: string, { expired = false } = {}): Promise<Certificate> {
    const { folder } = this;
    const name = crypto.randomUUID();
    await request(folder, name, `${name}.csr`, ["-addext", `subjectAltName=${host}`]);
    await mustRun("openssl", [
      ...["ca", "-config", "config", "-batch", "-notext", "-keyfile", `${this.name}.key`],
      ...["-in", `${name}.csr`, "-out", `${name}.pem`],
      ...["-startdate", "000101000000Z", "-enddate", `${expired ? "01" : "49"}0101000000Z`],
    ], { cwd: folder });
    return {
      cert: await Deno.readTextFile(`${folder}/${name}.pem`),
      key: await Deno.readTextFile(`${folder}/${name}.key`),
    };
  }
}

/** Makes a private key, and a request for a certificate or an authority's own certificate. */
async function request(cwd: string, name: string, output: string, args: string[]): Promise<void> {
  await mustRun("openssl", [
    ...["req", "-config", "config", "-subj", `/CN=${name}`, "-keyout", `${name}.key`],
    ...["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"],
    ...["-out", output, ...args],
  ], { cwd });
}
