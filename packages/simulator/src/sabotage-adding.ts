/** Guards of tasks that are added, taken out from outside: see `sabotage.test.ts`. */
import type { Command, State } from '@signalbox/engine';

/** Nobody finds what was added under its name: said again, it is added again. Answers with what puts the names back. */
export function hidesAdded(state: State, commands: readonly Command[]): () => void {
  const hidden: { readonly task: { name: string }; readonly name: string }[] = [];
  for (const command of commands) {
    const run = command.kind === 'AddTasks' ? state.runs.find(command.claim.runId) : null;
    for (const task of run === null || run < 0 ? [] : state.runs.versionOf(run).spec.tasks) {
      if (task.addedBy === undefined) continue;
      hidden.push({ task, name: task.name });
      (task as { name: string }).name = `${task.name} (hidden)`;
    }
  }
  return () => {
    for (const { task, name } of hidden.reverse()) task.name = name;
  };
}
