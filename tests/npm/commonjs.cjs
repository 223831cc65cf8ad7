const { use } = require("./usage.cjs");

use(require("@scam-address/client"), require("@scam-address/client/sandbox"));
