/** What passes between a worker and its gateway, as the wire has it. */
import type { ClaimRef } from '@signalbox/engine';
import type {
  Assignment,
  AttemptRequestAnswer,
  ClaimProgress,
  Kill,
  ReportAnswer,
  ShardEpoch,
  WorkerReport,
  WorkerRequest,
} from '@signalbox/host';

export type WorkerFrame =
  | {
      readonly kind: 'heartbeat';
      readonly no: number;
      readonly holds: readonly ClaimRef[];
      readonly progress: readonly ClaimProgress[];
    }
  | { readonly kind: 'reports'; readonly reports: readonly WorkerReport[] }
  | {
      readonly kind: 'refusals';
      readonly refusals: readonly { readonly claim: ClaimRef; readonly token: Uint8Array }[];
    }
  | { readonly kind: 'holdings'; readonly epochs: readonly ShardEpoch[]; readonly holds: readonly ClaimRef[] }
  | { readonly kind: 'asks'; readonly asks: readonly WorkerRequest[] }
  | { readonly kind: 'draining' }
  | { readonly kind: 'ping' }
  | { readonly kind: 'leaving' };

export type GatewayFrame =
  /** With the machines that have a gateway. */
  | { readonly kind: 'welcome'; readonly machines: readonly string[] }
  | { readonly kind: 'assign'; readonly assignments: readonly Assignment[] }
  | { readonly kind: 'kill'; readonly kills: readonly Kill[] }
  | { readonly kind: 'answer'; readonly answers: readonly ReportAnswer[] }
  | { readonly kind: 'epochs'; readonly epochs: readonly ShardEpoch[] }
  | { readonly kind: 'heartbeatAnswered'; readonly no: number }
  | { readonly kind: 'askAnswers'; readonly answers: readonly AttemptRequestAnswer[] }
  | { readonly kind: 'drain' }
  | { readonly kind: 'pingAnswered' };
