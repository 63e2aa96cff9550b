/** The requests of attempts, as the gateway of a test receives them. */
import type { AttemptRequestMessage, WorkerMessage } from '@signalbox/protocol/grpc';
import type { ScriptedGateway, Session } from './scripted-gateway.ts';

/** All asks that come, in order, and how they are answered. */
export function hear(gateway: ScriptedGateway) {
  const asks: { readonly session: Session; readonly ask: AttemptRequestMessage }[] = [];
  const woken: (() => void)[] = [];
  gateway.onMessage = (session: Session, message: WorkerMessage) => {
    session.take(message);
    for (const ask of message.requests) asks.push({ session, ask });
    for (const wake of woken.splice(0)) wake();
  };
  return {
    asks,
    async nth(no: number): Promise<AttemptRequestMessage> {
      while (asks[no] === undefined) await new Promise<void>((resolve) => woken.push(resolve));
      return asks[no].ask;
    },
    answer(
      ask: AttemptRequestMessage,
      said: { ok: boolean; code?: string; detail?: string; leftMs?: number } = { ok: true },
    ): void {
      const { session } = asks.findLast((one) => one.ask.no === ask.no)!;
      session.say({ requestAnswers: [{ no: ask.no, code: '', detail: '', leftMs: 0, ...said }] });
    },
  };
}

export const beatWithProgress = (session: Session) =>
  session.until(({ heartbeat }) => (heartbeat !== null && heartbeat.progress.length > 0 ? heartbeat : null));
