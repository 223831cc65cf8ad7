using Workerd = import "/workerd/workerd.capnp";

const config :Workerd.Config = (
  services = [
    (
      name = "test",
      worker = (
        modules = [(name = "test", esModule = embed "recipes.js")],
        bindings = [(name = "worker", service = "worker")],
        compatibilityDate = "2025-04-01",
      ),
    ),
    (
      name = "worker",
      worker = (
        modules = [(name = "worker", esModule = embed "worker.js")],
        bindings = [
          (name = "SCAM_ADDRESS_BASE_URL", fromEnvironment = "SCAM_ADDRESS_BASE_URL"),
          (name = "SCAM_ADDRESS_API_KEY", fromEnvironment = "SCAM_ADDRESS_API_KEY"),
        ],
        compatibilityDate = "2025-04-01",
        compatibilityFlags = ["nodejs_compat"],
        globalOutbound = "loopback",
      ),
    ),
    (name = "loopback", network = (allow = ["local"])),
  ],
);
