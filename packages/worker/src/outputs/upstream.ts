/** The outputs of earlier tasks by name, as a handler sees them. */
import { PermanentError } from '@signalbox/sdk/handler';

interface Given {
  readonly upstream: readonly { readonly taskName: string; readonly output: string }[];
  /** Names of those whose outputs are large, and were not fetched since no input names them. */
  readonly unfetched: readonly string[];
}

export function readUpstream({ upstream, unfetched }: Given): Readonly<Record<string, unknown>> {
  // Without a prototype: a task may have the name of anything that objects inherit.
  const outputs: Record<string, unknown> = Object.create(null);
  for (const { taskName, output } of upstream) outputs[taskName] = output === '' ? null : JSON.parse(output);
  for (const name of unfetched) {
    Object.defineProperty(outputs, name, {
      get() {
        throw new PermanentError(
          `The output of task ${name} is large, and large ones are fetched only for inputs: name it under inputs of this task.`,
        );
      },
    });
  }
  return outputs;
}
