/** Calls a function in this process. The function can be asked to stop, but not forced. */
import type { Handler, HandlerContext } from '@signalbox/sdk/handler';
import { type Result, resultOfReturn, resultOfThrow } from '../result.ts';

export function callHandler(handler: Handler, context: HandlerContext, end: (result: Result) => void): void {
  try {
    const returned = handler(context);
    // A plain value settles here and now: a promise for each empty task would cost more than the task.
    if (!isThenable(returned)) {
      end(resultOfReturn(returned));
      return;
    }
    returned.then(
      (value) => end(resultOfReturn(value)),
      (error: unknown) => end(resultOfThrow(error)),
    );
  } catch (error) {
    end(resultOfThrow(error)); // Also what a trap in the place of `then` throws.
  }
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function';
}
