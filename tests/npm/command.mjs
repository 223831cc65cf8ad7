/** Runs the command, as a program that bundles it does. */

import "@scam-address/client/cli";
