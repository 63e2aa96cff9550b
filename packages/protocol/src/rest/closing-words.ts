/** What an editor shows for the fields that close a run. */
const HOOKS = {
  before: 'Runs before it begins, and must succeed.',
  after: 'Runs after it has ended, however it did.',
  onSuccess: 'Runs after it has succeeded.',
  onFailure: 'Runs after it has failed.',
  onRetry: 'Runs each time that it is tried again.',
  onSlow: 'Runs when it takes longer than its soft timeout, while it goes on.',
} as const;

const hookWords = (path: string): [string, { readonly description: string }][] =>
  Object.entries(HOOKS).map(([field, description]) => [`${path}.${field}`, { description }]);

export const CLOSING_WORDS = {
  'tasks[].setup': {
    description: 'Makes something that a teardown takes down; the rule all_done_setup_success asks for these.',
  },
  'tasks[].teardown': {
    description:
      'Takes down what these tasks have made, however the run goes: runs once all that works with it has ended, if one of them succeeded. It does not decide the run.',
    examples: ['create-cluster', ['create-cluster', 'open-tunnel'], true],
  },
  'tasks[].undo': {
    description:
      'Undoes what the task has done, when the run fails or is cancelled and the dag has compensate: true. Has the inputs of the task, and its output as the input output.',
    examples: [{ run: './refund.sh "$INPUT_output"' }],
  },
  'tasks[].hooks': {
    description: 'Tasks of their own around this one. Inputs tell what happened: event, task, outcome, attempt, error.',
    examples: [{ onFailure: { run: 'echo "$INPUT_task failed: $INPUT_error"' } }],
  },
  compensate: {
    description: 'When a run fails or is cancelled, the tasks that succeeded are undone, in reverse order.',
  },
  hooks: {
    description: 'Tasks of their own around a run. Inputs tell what happened: event, outcome, failed.',
    examples: [{ onFailure: { run: 'echo "failed: $INPUT_failed"' } }],
  },
  ...Object.fromEntries([...hookWords('tasks[].hooks'), ...hookWords('hooks')]),
} as const;
