using Workerd = import "/workerd/workerd.capnp";

const config :Workerd.Config = (
  services = [
    (
      name = "main",
      worker = (
        modules = [(name = "worker", esModule = embed "worker.js")],
        compatibilityDate = "2026-01-01",
        globalOutbound = "loopback",
      ),
    ),
    (name = "loopback", network = (allow = ["local"])),
  ],
);
