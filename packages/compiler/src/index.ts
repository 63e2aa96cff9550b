export { dagJsonSchema } from '@signalbox/protocol';
export { compileFile, compileFolder } from './compile.ts';
export type { Bundle, Compiled, CompiledDag, CompileProblem } from './compiled.ts';
export { type DeployOutcome, deployCompiled } from './deploy-compiled.ts';
export { previewSchedule, readCalendar } from './preview-schedule.ts';
export { type Watching, watchFolder } from './watch-folder.ts';
