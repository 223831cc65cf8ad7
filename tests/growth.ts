/** How much larger the larger input is. */
const FACTOR = 8;

/** How often the two are measured, at most: something else may have disturbed them. */
const ROUNDS = 30;

/**
 * Asserts that the time of some work grows about as its input does, and not as its square.
 *
 * It compares one input with eight of an eighth: linear work takes about as long for both, so that
 * a busy machine slows down both alike; quadratic work takes eight times as long.
 */
export async function expectLinear(
  work: (size: number) => unknown,
  size: number,
): Promise<void> {
  const measure = async (size: number, count: number) => {
    const start = performance.now();
    for (let index = 0; index < count; index++) await work(size);
    return performance.now() - start;
  };
  await measure(size, FACTOR); // lets the runtime compile
  let [parts, whole] = [Infinity, Infinity];
  for (let round = 0; round < ROUNDS; round++) {
    parts = Math.min(parts, await measure(size, FACTOR));
    whole = Math.min(whole, await measure(FACTOR * size, 1));
    if (whole <= 3 * parts) return;
  }
  throw new Error(`${FACTOR} times the input takes ${whole} ms, in parts ${parts} ms`);
}
