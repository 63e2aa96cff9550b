/** The context of a function in a child process. It is the same as for a handler in the worker's own process. */
import { type AttemptRequester, type AttemptRequests, makeAttemptRequests } from '@signalbox/sdk/attempt-requests';
import { type GangMember, type HandlerContext, type Log, PermanentError, type RunWindow } from '@signalbox/sdk/handler';
import { Mask, tokenTexts } from '../logs/mask.ts';
import { readUpstream } from '../outputs/upstream.ts';
import { type MapItem, readMap } from '../read-map.ts';
import { RequestingContext } from '../requesting-context.ts';
import { windowIn } from '../run-info.ts';
import type { RunOrder } from './frames.ts';
import { logLine } from './log-line.ts';

export class ChildContext extends RequestingContext implements HandlerContext {
  readonly #order: RunOrder;
  readonly #onLine: (line: string) => void;
  readonly #requester: () => AttemptRequester;
  #requests: AttemptRequests | null = null;
  #isSlow = false;
  #controller: AbortController | null = null;
  #abortedWith: Error | null = null;
  #params: { readonly value: unknown } | null = null;
  #inputs: Readonly<Record<string, unknown>> | null = null;
  #upstream: Readonly<Record<string, unknown>> | null = null;
  #map: readonly MapItem[] | null = null;
  #window: { readonly value: RunWindow | null } | null = null;
  #log: Log | null = null;

  constructor(order: RunOrder, onLine: (line: string) => void, requester: () => AttemptRequester) {
    super();
    this.#order = order;
    this.#onLine = onLine;
    this.#requester = requester;
  }

  get tenant(): string {
    return this.#order.tenant;
  }
  get dag(): string {
    return this.#order.dag;
  }
  get run(): string {
    return this.#order.run;
  }
  get task(): string {
    return this.#order.task;
  }
  get attempt(): number {
    return this.#order.attempt;
  }
  get fence(): number {
    return this.#order.fence;
  }
  get effectKey(): string {
    return this.#order.effectKey;
  }
  get token(): string {
    return this.#order.token;
  }
  get failedUpstream(): readonly string[] {
    return this.#order.failedUpstream;
  }
  get inputs(): Readonly<Record<string, unknown>> {
    const { inputs } = this.#order;
    this.#inputs ??= inputs === '' ? {} : (JSON.parse(inputs) as Readonly<Record<string, unknown>>);
    return this.#inputs;
  }

  get window(): RunWindow | null {
    this.#window ??= { value: windowIn(this.#order.runInfo) };
    return this.#window.value;
  }

  get map(): readonly MapItem[] {
    this.#map ??= readMap(this.#order.map);
    return this.#map;
  }
  get gang(): GangMember | null {
    return this.#order.gang;
  }
  get item(): unknown {
    return this.map.at(-1)?.item;
  }
  get index(): number {
    return this.#order.map.at(-1)?.index ?? 0;
  }

  get params(): unknown {
    const { params } = this.#order;
    this.#params ??= { value: params === '' ? null : JSON.parse(params) };
    return this.#params.value;
  }

  get upstream(): Readonly<Record<string, unknown>> {
    this.#upstream ??= readUpstream(this.#order);
    return this.#upstream;
  }

  get signal(): AbortSignal {
    if (this.#controller === null) {
      this.#controller = new AbortController();
      if (this.#abortedWith !== null) this.#controller.abort(this.#abortedWith);
    }
    return this.#controller.signal;
  }

  abort(reason: Error): void {
    if (this.#abortedWith !== null) return;
    this.#abortedWith = reason;
    this.#controller?.abort(reason);
  }

  get log(): Log {
    if (this.#log === null) {
      const token = tokenTexts(Buffer.from(this.#order.token, 'base64url'));
      const mask = new Mask([...this.#order.secrets.map(([, value]) => value), ...token]);
      const hide = (text: string): string => mask.text(text);
      const at = (level: keyof Log) => (message: string, fields?: object) =>
        this.#onLine(logLine(level, message, fields, hide));
      this.#log = { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
    }
    return this.#log;
  }

  slow(): void {
    this.#isSlow = true;
    this.#requests?.slow();
  }

  protected override makeRequests(): AttemptRequests {
    this.#requests = makeAttemptRequests(this.#requester(), this.#order.checkpoint);
    if (this.#isSlow) this.#requests.slow();
    return this.#requests;
  }

  /** Works when it is taken out of the context, too: handlers take apart what they are given. */
  get secret(): (name: string) => string {
    return (name) => {
      const found = this.#order.secrets.find(([known]) => known === name);
      if (found !== undefined) return found[1];
      throw new PermanentError(`The task does not list the secret ${name}. Add it under "secrets" in its definition.`);
    };
  }
}
