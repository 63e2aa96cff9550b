/** What editors show of the fields about poison, breakers and dead letters. */
export const BREAKER_WORDS = {
  'tasks[].poison': {
    description: 'Stop retrying early if attempts fail again and again right after their start. false: never.',
    examples: [false, { count: 3, within: '1m', under: '1s' }],
  },
  'tasks[].poison.count': { description: 'Times in a row. Default: 3.' },
  'tasks[].poison.within': { description: 'Within this time. Default: 1m.', examples: ['1m'] },
  'tasks[].poison.under': { description: 'Failed within this time after its start. Default: 1s.', examples: ['1s'] },
  breaker: {
    description:
      'Holds new tasks of the dag while too many attempts fail, and probes now and then. false: retries are not held for a shared error either.',
    examples: [{ share: 0.5, window: '1m', minimum: 20 }, false],
  },
  'breaker.share': { description: 'Share of ended attempts that must have failed. Default: 0.5.' },
  'breaker.window': { description: 'Looks at attempts that ended within this time. Default: 1m.', examples: ['1m'] },
  'breaker.minimum': { description: 'Minimum number of ended attempts. Default: 20.' },
  'breaker.pause': {
    description: 'Time until the first probe. Doubles with each failed probe. Default: 5s.',
    examples: ['5s'],
  },
  'breaker.maxPause': { description: 'Longest time between probes. Default: 1m.', examples: ['1m'] },
  maxDeadLetters: { description: 'How many open dead letters are kept, newest first. Default: 10,000.' },
} as const;
