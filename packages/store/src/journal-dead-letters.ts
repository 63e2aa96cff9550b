/** How dead letters and breakers stand in the journal. */
import type {
  Actor,
  AttemptNo,
  BreakerSet,
  DagId,
  DeadLetterClosed,
  DeadLetterWritten,
  Fingerprint,
  RunUid,
  ShardNo,
  TaskNo,
  TenantId,
  VersionNo,
} from '@signalbox/engine';
import { attemptOutcomes, breakerStates, deadLetterReasons, deadLetterStates } from './codes.ts';
import type { ByteReader, ByteWriter } from './journal-bytes.ts';

export const deadLetterCodecs = {
  DeadLetterWritten: {
    write(to: ByteWriter, c: DeadLetterWritten): void {
      to.run(c.runId);
      to.uint(c.taskNo);
      to.uint(c.attemptNo);
      to.uuid(c.uid);
      to.text(c.taskName);
      to.uint(c.tenantId);
      to.uint(c.dagId);
      to.uint(c.versionNo);
      to.uint(deadLetterReasons.code(c.reason));
      to.uint(attemptOutcomes.code(c.outcome));
      to.nullable(c.code, (code) => to.text(code));
      to.uint(c.fingerprint);
      to.flag(c.error !== null);
      to.instant(c.at);
    },
    read: (from: ByteReader): Omit<DeadLetterWritten, 'kind'> => ({
      runId: from.run(),
      taskNo: from.uint() as TaskNo,
      attemptNo: from.uint() as AttemptNo,
      uid: from.uuid() as RunUid,
      taskName: from.text(),
      tenantId: from.uint() as TenantId,
      dagId: from.uint() as DagId,
      versionNo: from.uint() as VersionNo,
      reason: deadLetterReasons.word(from.uint()),
      outcome: attemptOutcomes.word(from.uint()),
      code: from.nullable(() => from.text()),
      fingerprint: from.uint() as Fingerprint,
      error: from.flag() ? '' : null,
      at: from.instant(),
    }),
  },
  DeadLetterClosed: {
    write(to: ByteWriter, c: DeadLetterClosed): void {
      to.run(c.runId);
      to.uint(c.taskNo);
      to.uint(c.attemptNo);
      to.uint(deadLetterStates.code(c.as));
      to.nullable(c.newUid, (uid) => to.uuid(uid));
      to.text(c.actor);
      to.instant(c.at);
    },
    read: (from: ByteReader): Omit<DeadLetterClosed, 'kind'> => ({
      runId: from.run(),
      taskNo: from.uint() as TaskNo,
      attemptNo: from.uint() as AttemptNo,
      as: deadLetterStates.word(from.uint()) as DeadLetterClosed['as'],
      newUid: from.nullable(() => from.uuid() as RunUid),
      actor: from.text() as Actor,
      at: from.instant(),
    }),
  },
  BreakerSet: {
    write(to: ByteWriter, c: BreakerSet): void {
      to.uint(c.shard);
      to.uint(c.tenantId);
      to.uint(c.dagId);
      to.uint(c.fingerprint ?? 0);
      to.uint(breakerStates.code(c.state));
      to.uint(c.pauseMs);
      to.instant(c.openedAt);
      to.flag(c.error !== null);
      to.text(c.actor);
      to.instant(c.at);
    },
    read(from: ByteReader): Omit<BreakerSet, 'kind'> {
      const of = { shard: from.uint() as ShardNo, tenantId: from.uint() as TenantId, dagId: from.uint() as DagId };
      const fingerprint = from.uint();
      return {
        ...of,
        fingerprint: fingerprint === 0 ? null : (fingerprint as Fingerprint),
        state: breakerStates.word(from.uint()),
        pauseMs: from.uint(),
        openedAt: from.instant(),
        error: from.flag() ? '' : null,
        actor: from.text() as Actor,
        at: from.instant(),
      };
    },
  },
} as const;
