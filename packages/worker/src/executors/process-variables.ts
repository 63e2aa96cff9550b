/** The environment variables that tell a process about its attempt. */
import { evaluatedInputs, type ProcessWork, REFERENCE_VARIABLE } from '@signalbox/protocol';
import { PermanentError } from '@signalbox/sdk';
import type { Job } from './port.ts';
import type { ProcessFolder } from './process-folder.ts';

/** Linux takes 128 KiB for one variable; what is larger goes into a file. */
const MAX_VARIABLE_BYTES = 100 * 1024;
/** And 2 MiB for all variables and arguments; inputs take no more than half of that. */
const MAX_INPUTS_BYTES = 1024 * 1024;

export async function processVariables(job: Job, folder: ProcessFolder): Promise<Readonly<Record<string, string>>> {
  const { assignment, context, work, log } = job;
  const variables: Record<string, string> = {
    SIGNALBOX_RUN: assignment.run,
    SIGNALBOX_DAG: assignment.dag,
    SIGNALBOX_TASK: assignment.taskName,
    SIGNALBOX_ATTEMPT: String(assignment.claim.attempt),
    SIGNALBOX_FENCE: String(assignment.claim.fence),
    SIGNALBOX_ATTEMPT_TOKEN: context.token,
    SIGNALBOX_EFFECT_KEY: assignment.effectKey,
    SIGNALBOX_OUTPUT: folder.output,
  };
  const { window } = context;
  if (window !== null) {
    variables.SIGNALBOX_WINDOW_AT = window.at.toISOString();
    variables.SIGNALBOX_WINDOW_START = window.start.toISOString();
    variables.SIGNALBOX_WINDOW_END = window.end.toISOString();
  }
  const { gang } = context;
  if (gang !== null) {
    variables.SIGNALBOX_GANG_RANK = String(gang.rank);
    variables.SIGNALBOX_GANG_SIZE = String(gang.size);
    variables.SIGNALBOX_GANG_HOSTS = gang.hosts.join(',');
  }
  const { failedUpstream } = assignment;
  if (failedUpstream.length > 0) variables.SIGNALBOX_FAILED_UPSTREAM = JSON.stringify(failedUpstream);
  const { run } = work.shape as ProcessWork;
  const evaluated = new Set(typeof run === 'string' ? evaluatedInputs(run) : []);
  let inputsLeft = MAX_INPUTS_BYTES;
  for (const [name, value] of Object.entries(context.inputs)) {
    const text = variableText(value);
    if (text === null) continue;
    if (evaluated.has(name) && !NUMBER.test(text)) throw new PermanentError(notANumber(name));
    if (text.includes('\0'))
      throw new PermanentError(`Input ${name} contains a NUL character, which a process cannot receive.`);
    const bytes = Buffer.byteLength(text);
    if (bytes <= MAX_VARIABLE_BYTES && bytes <= inputsLeft) {
      variables[`INPUT_${name}`] = text;
      inputsLeft -= bytes;
    } else log.line('system', `Input ${name} is not a variable, it is too large: read it from the JSON of all inputs.`);
  }
  const texts = {
    PARAMS: assignment.params === '' ? 'null' : assignment.params,
    INPUTS: JSON.stringify(context.inputs),
  };
  for (const [name, text] of Object.entries(texts)) {
    if (Buffer.byteLength(text) <= MAX_VARIABLE_BYTES) {
      variables[`SIGNALBOX_${name}`] = text;
      continue;
    }
    variables[`SIGNALBOX_${name}_FILE`] = await folder.write(`${name.toLowerCase()}.json`, text);
    log.line('system', `SIGNALBOX_${name} is too large for a variable: SIGNALBOX_${name}_FILE names a file with it.`);
  }
  for (const [name, value] of work.secrets) {
    if ((work.shape.secrets ?? []).includes(name)) variables[`SIGNALBOX_SECRET_${name}`] = value;
  }
  // The command line names them in place of what it refers to.
  const references = Object.keys(work.shape.fill ?? {}).filter((place) => place.startsWith('ref['));
  for (let no = 0; no < references.length; no++) {
    variables[`${REFERENCE_VARIABLE}${no}`] = limited(context.text(`ref[${no}]`, 'variable', ''));
  }
  // Last: what a definition sets is meant.
  for (const [name, text] of Object.entries((work.shape as ProcessWork).env ?? {})) {
    variables[name] = context.text(`env.${name}`, 'variable', text);
  }
  return variables;
}

/** The shell evaluates a variable in arithmetic once more, and bash runs a command that is in it (I69): only numbers go there. */
const NUMBER = /^[-+]?\d{1,30}(?:\.\d{1,30})?$/;

function notANumber(name: string): string {
  return `Input ${name} is not a number, and the command line uses INPUT_${name} in arithmetic, where the shell would run a command in it. Give it a number, or use it outside of $(( )), (( )), [[ -eq ]], let and array indexes.`;
}

/** Lists and objects as JSON. What is missing is no variable, so that a script can tell it from an empty text. */
function variableText(value: unknown): string | null {
  if (value === null || value === undefined) return null;
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function limited(text: string): string {
  if (Buffer.byteLength(text) <= MAX_VARIABLE_BYTES) return text;
  throw new PermanentError(
    `A value of the command line is larger than ${MAX_VARIABLE_BYTES} bytes: give it under inputs, and read it from the JSON of all inputs.`,
  );
}
