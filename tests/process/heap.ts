import process from "node:process";

/** Collects garbage, and resolves to the bytes of the heap in use after it. */
export async function heap(): Promise<number> {
  for (let round = 0; round < 5; round++) {
    await new Promise((resolve) => setTimeout(resolve, 20));
    (globalThis as { gc?: () => void }).gc!();
  }
  return process.memoryUsage().heapUsed;
}
