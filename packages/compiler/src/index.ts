export { dagJsonSchema } from '@signalbox/protocol';
export { type CompileOptions, compileFile, compileFolder, DEFAULT_TIME_LIMIT_MS } from './compile.ts';
export type { Bundle, Compiled, CompiledDag, CompileProblem } from './compiled.ts';
export { type DeployOutcome, deployCompiled } from './deploy-compiled.ts';
export { type Watching, type WatchTiming, watchFolder } from './watch-folder.ts';
