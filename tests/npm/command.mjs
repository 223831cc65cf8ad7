/** Runs the command where the package has no "bin". */

import "@scam-address/client/cli";
