import * as client from "@scam-address/client";
import * as sandbox from "@scam-address/client/sandbox";
import { use } from "./usage.cjs";

await use(client, sandbox);
