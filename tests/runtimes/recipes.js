/** Sends a request to the worker that RECIPES prints. */
export default {
  async test(_controller, { worker }) {
    const response = await worker.fetch("https://your.example/lookup?address=some-address");
    const text = await response.text();
    if (text !== '{"risk":"low"}') throw new Error(`Got ${response.status}: ${text}`);
  },
};
