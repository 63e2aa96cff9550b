/**
 * `Assignment` of worker.proto. Half of it is the same for all attempts of a task (names, code, limits). That half is written as
 * one stretch of bytes, which the writer keeps; a reader that sees the same bytes again takes what it has read from them before.
 */
import { refuse } from '../check.ts';
import type { Assignment, Claim, MapPlace, OutputRef, UpstreamOutput } from '../worker-messages.ts';
import { readClaim, writeClaim } from './claim.ts';
import { LONG, SHORT, TOKEN_BYTES } from './limits.ts';
import { bytesTag, numberTag } from './tags.ts';
import type { WireReader } from './wire-reader.ts';
import type { WireWriter } from './wire-writer.ts';

const CLAIM = bytesTag(1);
const TOKEN = bytesTag(2);
const EPOCH = numberTag(3);
const TENANT = bytesTag(4);
const DAG = bytesTag(5);
const VERSION = numberTag(6);
const RUN = bytesTag(7);
const TASK_NAME = bytesTag(8);
const HANDLER = bytesTag(9);
const QUEUE = bytesTag(10);
const TIMEOUT = numberTag(11);
const EFFECT_KEY = bytesTag(12);
const PARAMS = bytesTag(13);
const UPSTREAM = bytesTag(14);
const WORK = bytesTag(15);
const BUNDLE = bytesTag(16);
const FAILED_UPSTREAM = bytesTag(17);
const MISSING_UPSTREAM = bytesTag(18);
const MAP = bytesTag(19);
const CHECKPOINT = bytesTag(20);
const MEMORY = numberTag(21);
const SOFT_TIMEOUT = numberTag(22);
const STUCK = numberTag(23);
const RUN_INFO = bytesTag(24);
const REFERENCES = bytesTag(25);
const FILES = bytesTag(26);
const BOOKING = bytesTag(27);
/** Of the small messages inside of it. */
const FIRST_TEXT = bytesTag(1);
const SECOND_TEXT = bytesTag(2);
const THIRD_TEXT = bytesTag(3);
const SECOND_NUMBER = numberTag(2);
const THIRD_NUMBER = numberTag(3);

/** The same for all attempts of a task. */
type OfTask = Pick<
  Assignment,
  | 'tenant'
  | 'dag'
  | 'version'
  | 'taskName'
  | 'handler'
  | 'queue'
  | 'work'
  | 'bundle'
  | 'files'
  | 'timeoutMs'
  | 'memoryBytes'
  | 'softTimeoutMs'
  | 'stuckMs'
  | 'booking'
>;

/** A task that was seen twice in a row, and its stretch of bytes. */
interface Known {
  readonly fields: TaskFields;
  readonly bytes: Buffer;
}

/** Chains and small dags have a few tasks under way at a time. */
const MOST_KNOWN = 8;
const MOST_KNOWN_BYTES = 16 * 1024;
const NONE: readonly never[] = [];
const NO_BYTES = Buffer.alloc(0);

class TaskFields implements OfTask {
  tenant = '';
  dag = '';
  version = 0;
  taskName = '';
  handler = '';
  queue = '';
  work = '';
  bundle = '';
  files = '';
  timeoutMs = 0;
  memoryBytes = 0;
  softTimeoutMs = 0;
  stuckMs = 0;
  booking = '';

  static of(from: OfTask): TaskFields {
    const fields = new TaskFields();
    fields.tenant = from.tenant;
    fields.dag = from.dag;
    fields.version = from.version;
    fields.taskName = from.taskName;
    fields.handler = from.handler;
    fields.queue = from.queue;
    fields.work = from.work;
    fields.bundle = from.bundle;
    fields.files = from.files;
    fields.timeoutMs = from.timeoutMs;
    fields.memoryBytes = from.memoryBytes;
    fields.softTimeoutMs = from.softTimeoutMs;
    fields.stuckMs = from.stuckMs;
    fields.booking = from.booking;
    return fields;
  }
}

const BLANK = new TaskFields();

/** The last few, the newest in the place of the oldest. Not each task that comes by: those of a wide dag come once. */
class KnownTasks {
  readonly all: Known[] = [];
  #next = 0;

  add(known: Known): void {
    if (known.bytes.length > MOST_KNOWN_BYTES) return;
    this.all[this.#next] = known;
    this.#next = (this.#next + 1) % MOST_KNOWN;
  }
}

const written = new KnownTasks();
const read = new KnownTasks();
/** What was written last, whether or not it is known. */
let lastWritten: OfTask = BLANK;

export function writeAssignment(writer: WireWriter, tag: number, assignment: Assignment): void {
  const begun = writer.begin(tag);
  writeClaim(writer, CLAIM, assignment.claim);
  writer.bytes(TOKEN, assignment.token);
  writer.count(EPOCH, assignment.epoch);
  writer.text(RUN, assignment.run);
  writer.text(EFFECT_KEY, assignment.effectKey);
  writeOfTask(writer, assignment);
  writer.text(PARAMS, assignment.params);
  writer.text(CHECKPOINT, assignment.checkpoint);
  writer.text(RUN_INFO, assignment.runInfo);
  for (const { taskName, output } of assignment.upstream) writePair(writer, UPSTREAM, taskName, output);
  for (const name of assignment.failedUpstream) writer.item(FAILED_UPSTREAM, name);
  for (const name of assignment.missingUpstream) writer.item(MISSING_UPSTREAM, name);
  for (const { group, index, item } of assignment.map) {
    const place = writer.begin(MAP);
    writer.text(FIRST_TEXT, group);
    writer.count(SECOND_NUMBER, index);
    writer.text(THIRD_TEXT, item);
    writer.end(place);
  }
  for (const { taskName, id, bytes } of assignment.references) {
    const reference = writer.begin(REFERENCES);
    writer.text(FIRST_TEXT, taskName);
    writer.text(SECOND_TEXT, id);
    writer.count(THIRD_NUMBER, bytes);
    writer.end(reference);
  }
  writer.end(begun);
}

function writePair(writer: WireWriter, tag: number, first: string, second: string): void {
  const begun = writer.begin(tag);
  writer.text(FIRST_TEXT, first);
  writer.text(SECOND_TEXT, second);
  writer.end(begun);
}

function writeOfTask(writer: WireWriter, assignment: Assignment): void {
  for (const known of written.all) if (isSame(known.fields, assignment)) return writer.raw(known.bytes);
  const from = writer.at;
  // First, and also when it is empty: readers look for what they know where they see it.
  writer.item(TENANT, assignment.tenant);
  writer.text(DAG, assignment.dag);
  writer.count(VERSION, assignment.version);
  writer.text(TASK_NAME, assignment.taskName);
  writer.text(HANDLER, assignment.handler);
  writer.text(QUEUE, assignment.queue);
  writer.count(TIMEOUT, assignment.timeoutMs);
  writer.text(WORK, assignment.work);
  writer.text(BUNDLE, assignment.bundle);
  writer.count(MEMORY, assignment.memoryBytes);
  writer.count(SOFT_TIMEOUT, assignment.softTimeoutMs);
  writer.count(STUCK, assignment.stuckMs);
  writer.text(FILES, assignment.files);
  writer.text(BOOKING, assignment.booking);
  if (isSame(lastWritten, assignment)) written.add({ fields: TaskFields.of(assignment), bytes: writer.since(from) });
  lastWritten = assignment;
}

/** What differs most often comes first. */
function isSame(a: OfTask, b: OfTask): boolean {
  return (
    a.taskName === b.taskName &&
    a.dag === b.dag &&
    a.version === b.version &&
    a.tenant === b.tenant &&
    a.handler === b.handler &&
    a.queue === b.queue &&
    a.work === b.work &&
    a.bundle === b.bundle &&
    a.files === b.files &&
    a.timeoutMs === b.timeoutMs &&
    a.memoryBytes === b.memoryBytes &&
    a.softTimeoutMs === b.softTimeoutMs &&
    a.stuckMs === b.stuckMs &&
    a.booking === b.booking
  );
}

export function readAssignment(reader: WireReader): Assignment {
  let claim: Claim | null = null;
  let token: Buffer = NO_BYTES;
  let epoch = 0;
  let ofTask = BLANK;
  /** Whether nobody else has these. */
  let isOwn = false;
  let [run, effectKey, params, checkpoint, runInfo] = ['', '', '', '', ''];
  let upstream: UpstreamOutput[] | null = null;
  let failedUpstream: string[] | null = null;
  let missingUpstream: string[] | null = null;
  let map: MapPlace[] | null = null;
  let references: OutputRef[] | null = null;
  for (let from = reader.at, tag = reader.tag(); tag !== 0; from = reader.at, tag = reader.tag()) {
    if (tag === TENANT && ofTask === BLANK) {
      ofTask = readOfTask(reader, from);
      continue;
    }
    switch (tag) {
      case CLAIM:
        claim = readClaim(reader);
        break;
      case TOKEN:
        token = reader.slice('assignments.token', TOKEN_BYTES);
        break;
      case EPOCH:
        epoch = reader.uint32('assignments.epoch');
        break;
      case RUN:
        run = reader.text('assignments.run', SHORT);
        break;
      case EFFECT_KEY:
        effectKey = reader.text('assignments.effectKey', SHORT);
        break;
      case PARAMS:
        params = reader.text('assignments.params', LONG);
        break;
      case CHECKPOINT:
        checkpoint = reader.text('assignments.checkpoint', LONG);
        break;
      case RUN_INFO:
        runInfo = reader.text('assignments.runInfo', LONG);
        break;
      case UPSTREAM:
        (upstream ??= []).push(readUpstream(reader));
        break;
      case FAILED_UPSTREAM:
        (failedUpstream ??= []).push(reader.filledText('assignments.failedUpstream', SHORT));
        break;
      case MISSING_UPSTREAM:
        (missingUpstream ??= []).push(reader.filledText('assignments.missingUpstream', SHORT));
        break;
      case MAP:
        (map ??= []).push(readMapPlace(reader));
        break;
      case REFERENCES:
        (references ??= []).push(readOutputRef(reader));
        break;
      // Another sender may write fields in another order.
      default:
        if (!isOwn) {
          ofTask = TaskFields.of(ofTask);
          isOwn = true;
        }
        if (!readField(ofTask, reader, tag)) reader.skip(tag);
    }
  }
  return {
    claim: claim ?? refuse('assignments.claim', 'is missing'),
    token,
    epoch,
    tenant: ofTask.tenant,
    dag: ofTask.dag,
    version: ofTask.version,
    run,
    taskName: ofTask.taskName,
    handler: ofTask.handler,
    work: ofTask.work,
    bundle: ofTask.bundle,
    files: ofTask.files,
    queue: ofTask.queue,
    timeoutMs: ofTask.timeoutMs,
    effectKey,
    params,
    upstream: upstream ?? NONE,
    failedUpstream: failedUpstream ?? NONE,
    missingUpstream: missingUpstream ?? NONE,
    runInfo,
    map: map ?? NONE,
    checkpoint,
    memoryBytes: ofTask.memoryBytes,
    softTimeoutMs: ofTask.softTimeoutMs,
    stuckMs: ofTask.stuckMs,
    booking: ofTask.booking,
    references: references ?? NONE,
  };
}

/** From the tenant on, whose tag has been read, up to the first field that is no part of it. What it returns may be shared. */
function readOfTask(reader: WireReader, from: number): TaskFields {
  const { bytes, end } = reader;
  for (const known of read.all) {
    const to = from + known.bytes.length;
    if (to > end || known.bytes.compare(bytes, from, to) !== 0) continue;
    reader.at = to;
    return known.fields;
  }
  const fields = new TaskFields();
  fields.tenant = reader.text('assignments.tenant', SHORT);
  let to = reader.at;
  for (let tag = reader.tag(); tag !== 0; tag = reader.tag()) {
    if (!readField(fields, reader, tag)) break;
    to = reader.at;
  }
  reader.at = to;
  if (reader.isAgain(from, to)) read.add({ fields, bytes: Buffer.from(bytes.subarray(from, to)) });
  return fields;
}

/** False for a field of another part, which is not read. */
function readField(fields: TaskFields, reader: WireReader, tag: number): boolean {
  switch (tag) {
    case TENANT:
      fields.tenant = reader.text('assignments.tenant', SHORT);
      return true;
    case DAG:
      fields.dag = reader.text('assignments.dag', SHORT);
      return true;
    case VERSION:
      fields.version = reader.uint32('assignments.version');
      return true;
    case TASK_NAME:
      fields.taskName = reader.text('assignments.taskName', SHORT);
      return true;
    case HANDLER:
      fields.handler = reader.text('assignments.handler', SHORT);
      return true;
    case QUEUE:
      fields.queue = reader.text('assignments.queue', SHORT);
      return true;
    case TIMEOUT:
      fields.timeoutMs = reader.uint32('assignments.timeoutMs');
      return true;
    case WORK:
      fields.work = reader.text('assignments.work', LONG);
      return true;
    case BUNDLE:
      fields.bundle = reader.text('assignments.bundle', SHORT);
      return true;
    case MEMORY:
      fields.memoryBytes = reader.count('assignments.memoryBytes');
      return true;
    case SOFT_TIMEOUT:
      fields.softTimeoutMs = reader.uint32('assignments.softTimeoutMs');
      return true;
    case STUCK:
      fields.stuckMs = reader.uint32('assignments.stuckMs');
      return true;
    case FILES:
      fields.files = reader.text('assignments.files', SHORT);
      return true;
    case BOOKING:
      fields.booking = reader.text('assignments.booking', LONG);
      return true;
    default:
      return false;
  }
}

function readUpstream(reader: WireReader): UpstreamOutput {
  const outer = reader.enter();
  let [taskName, output] = ['', ''];
  for (let tag = reader.tag(); tag !== 0; tag = reader.tag()) {
    if (tag === FIRST_TEXT) taskName = reader.text('assignments.upstream.taskName', SHORT);
    else if (tag === SECOND_TEXT) output = reader.text('assignments.upstream.output', LONG);
    else reader.skip(tag);
  }
  reader.leave(outer);
  if (taskName === '') refuse('assignments.upstream.taskName', 'is empty');
  return { taskName, output };
}

function readMapPlace(reader: WireReader): MapPlace {
  const outer = reader.enter();
  let [group, index, item] = ['', 0, ''];
  for (let tag = reader.tag(); tag !== 0; tag = reader.tag()) {
    if (tag === FIRST_TEXT) group = reader.filledText('assignments.map.group', SHORT);
    else if (tag === SECOND_NUMBER) index = reader.uint32('assignments.map.index');
    else if (tag === THIRD_TEXT) item = reader.filledText('assignments.map.item', LONG);
    else reader.skip(tag);
  }
  reader.leave(outer);
  if (group === '' || item === '') refuse('assignments.map', 'has no group or no item');
  return { group, index, item };
}

function readOutputRef(reader: WireReader): OutputRef {
  const outer = reader.enter();
  let [taskName, id, bytes] = ['', '', 0];
  for (let tag = reader.tag(); tag !== 0; tag = reader.tag()) {
    if (tag === FIRST_TEXT) taskName = reader.text('assignments.references.taskName', SHORT);
    else if (tag === SECOND_TEXT) id = reader.text('assignments.references.id', LONG);
    else if (tag === THIRD_NUMBER) bytes = reader.count('assignments.references.bytes');
    else reader.skip(tag);
  }
  reader.leave(outer);
  if (taskName === '' || id === '') refuse('assignments.references', 'has no name or no id');
  return { taskName, id, bytes };
}
