// Handlers of the examples. A handler gets the attempt it makes, and returns JSON or nothing.

/** Says hello to the name in the params. */
export const greet = ({ params }) => ({ greeting: `Hello, ${params?.name ?? 'world'}!` });

/** Sees what the tasks that it needs have returned. */
export const shout = ({ upstream }) => upstream.greet.greeting.toUpperCase();

/** Takes half a second, and ends early when nobody wants the result any more. */
export const rest = ({ signal }) =>
  new Promise((resolve, reject) => {
    const timer = setTimeout(() => resolve('rested'), 500);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      reject(signal.reason);
    });
  });

/** Fails each time: the task is tried again until its attempts are used up. */
export const stumble = ({ attempt }) => {
  throw new Error(`This example fails on purpose (attempt ${attempt}).`);
};

/** Does nothing. */
export const noop = () => undefined;
