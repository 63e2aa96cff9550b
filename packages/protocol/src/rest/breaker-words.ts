/** What editors show of the fields about poison, breakers and dead letters. */
export const BREAKER_WORDS = {
  'tasks[].poison': {
    description: 'Given up before its retries are used up when it fails at once again and again; false: never.',
    examples: [false, { count: 3, within: '1m', under: '1s' }],
  },
  'tasks[].poison.count': { description: 'So many times in a row; 3 unless told.' },
  'tasks[].poison.within': { description: 'Within this time; 1m unless told.', examples: ['1m'] },
  'tasks[].poison.under': { description: 'Sooner than this after its start; 1s unless told.', examples: ['1s'] },
  breaker: {
    description:
      'Holds new tasks of the dag while too many of its attempts fail, and tries one now and then; false: retries are not held behind errors that many share either.',
    examples: [{ share: 0.5, window: '1m', minimum: 20 }, false],
  },
  'breaker.share': { description: 'Of the ended attempts: how many must have failed; 0.5 unless told.' },
  'breaker.window': { description: 'Of the attempts that ended within this time; 1m unless told.', examples: ['1m'] },
  'breaker.minimum': { description: 'Fewer ended attempts than this say nothing; 20 unless told.' },
  'breaker.pause': {
    description: 'Until the first probe; each that fails doubles it; 5s unless told.',
    examples: ['5s'],
  },
  'breaker.maxPause': { description: 'The longest from one probe to the next; 1m unless told.', examples: ['1m'] },
  maxDeadLetters: { description: 'Open dead letters that are kept, the newest; 10,000 unless told.' },
} as const;
