/** What an editor shows for the fields that close a run. */
const HOOKS = {
  before: 'Runs before it starts, and must succeed.',
  after: 'Runs after it has ended, whatever the outcome.',
  onSuccess: 'Runs after it has succeeded.',
  onFailure: 'Runs after it has failed.',
  onRetry: 'Runs each time it is retried.',
  onSlow: 'Runs when it takes longer than its soft timeout. It continues.',
} as const;

const hookWords = (path: string): [string, { readonly description: string }][] =>
  Object.entries(HOOKS).map(([field, description]) => [`${path}.${field}`, { description }]);

export const CLOSING_WORDS = {
  'tasks[].setup': {
    description: 'Creates something that a teardown removes. The rule all_done_setup_success refers to setups.',
  },
  'tasks[].teardown': {
    description:
      'Removes what these tasks created, whatever the outcome of the run. Runs when all tasks that use it have ended, if at least one setup succeeded. It does not affect the outcome.',
    examples: ['create-cluster', ['create-cluster', 'open-tunnel'], true],
  },
  'tasks[].undo': {
    description:
      'Undoes what the task did, if the run fails or is cancelled and the dag has compensate: true. Gets the inputs of the task, and its output as the input output.',
    examples: [{ run: './refund.sh "$INPUT_output"' }],
  },
  'tasks[].hooks': {
    description:
      'Tasks that run around this task. Their inputs say what happened: event, task, outcome, attempt, error.',
    examples: [{ onFailure: { run: 'echo "$INPUT_task failed: $INPUT_error"' } }],
  },
  compensate: {
    description: 'If a run fails or is cancelled, undo the tasks that succeeded, in reverse order.',
  },
  hooks: {
    description: 'Tasks that run around a run. Their inputs say what happened: event, outcome, failed.',
    examples: [{ onFailure: { run: 'echo "failed: $INPUT_failed"' } }],
  },
  ...Object.fromEntries([...hookWords('tasks[].hooks'), ...hookWords('hooks')]),
} as const;
