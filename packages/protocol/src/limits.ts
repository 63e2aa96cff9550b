/** Every input has a limit (I68). They are here together because clients, servers and workers must agree on them. */

export const MAX_TASKS = 10_000;
/** Between all tasks of a dag. 10,000 tasks that fan out and in again have 20,000. */
export const MAX_EDGES = 100_000;
/** Places in one task's output, or in the params, that conditions look at. */
export const MAX_FACTS = 100;
/** Short circuits that skip everything behind them. */
export const MAX_CLOSERS = 100;
/** Tasks that may be added to one run, unless its dag says otherwise. */
export const DEFAULT_ADDED_TASKS = 100;
/** In one call. */
export const MAX_ADDED_AT_ONCE = 1_000;
/** JSON text of one call. */
export const MAX_ADDED_BYTES = 1024 * 1024;
/** How many tasks one added task can need or come before. */
export const MAX_ADDED_NEEDS = 100;
export const MAX_TEMPLATES = 100;
/** Of one dag. */
export const MAX_TRIGGERS = 20;
/** CloudEvents in one request. */
export const MAX_BATCH_EVENTS = 100;
export const MAX_GROUPS = 1_000;
/** Maps within maps. */
export const MAX_MAP_DEPTH = 3;
/** Lists that one map goes over. */
export const MAX_MAP_SOURCES = 5;
/** Items of one map, unless its dag says otherwise, and the most that it may say. */
/** Members of a gang. */
export const MAX_GANG_SIZE = 256;
export const DEFAULT_MAP_SIZE = 10_000;
export const MAX_MAP_SIZE = 1_000_000;
/** JSON text of a run's params. */
export const MAX_PARAMS_BYTES = 256 * 1024;
/** JSON text that an attempt leaves for the next one. */
export const MAX_CHECKPOINT_BYTES = 256 * 1024;
/** What an attempt says of its progress, for people; longer ones are cut. */
export const MAX_PROGRESS_NOTE_CHARS = 200;
/** Slots of one worker, and of all workers of a token without its own limit. */
export const MAX_SLOTS = 100_000;
/** Of a queue of a worker. */
export const MAX_QUEUE_WEIGHT = 1_000;
export const DEFAULT_TOKEN_SLOTS = 10_000;
/** How many more claims a worker can take than it has slots; within the limit of its token. */
export const MAX_AHEAD = 2_000;
/** How many queues a token can name and a worker can serve. */
export const MAX_TOKEN_QUEUES = 100;
/** Reports of one worker that wait for an answer: with so many it takes on nothing new. */
export const MAX_UNANSWERED_REPORTS = 20_000;
/** JSON text of the output of an attempt. */
export const MAX_OUTPUT_BYTES = 8 * 1024 * 1024;
/** The most of it that a report holds itself; more is stored by itself first, and the report says where. */
export const MAX_REPORTED_BYTES = 256 * 1024;
/** What a worker fetches for one attempt, in all. */
export const MAX_FETCHED_BYTES = 64 * 1024 * 1024;
/** What people read of a failure; longer ones are cut. */
export const MAX_ERROR_CHARS = 8 * 1024;
/** The length of the code of a failure, such as `http:503`. */
export const MAX_CODE_CHARS = 100;
/** Deepest nesting of params. */
export const MAX_JSON_DEPTH = 64;
export const MAX_BATCH_RUNS = 1_000;
export const MAX_PAGE = 500;
export const MAX_PROBLEMS = 50;
export const MAX_KEY_CHARS = 255;
/** Fits the 32 bits in which milliseconds travel. */
export const MAX_TIMEOUT_MS = 30 * 86_400_000;
/** Code of a bundle, and again its source map. */
export const MAX_BUNDLE_BYTES = 10 * 1024 * 1024;
/** Files that go along with a dag, such as scripts: how many, and how many bytes they may have together. */
export const MAX_FILES = 1_000;
export const MAX_FILES_BYTES = 8 * 1024 * 1024;

/** Tasks that a person may name in one request. */
export const MAX_NAMED_TASKS = 1_000;
