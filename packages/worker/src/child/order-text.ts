/**
 * An assignment on its way to a child: its texts one after the other, with a zero character between. Most of them are JSON
 * already, and JSON has no such character, so nothing is escaped a second time. What is rarely there, or may hold any
 * character (values of secrets), is one field of JSON.
 */
import type { RunOrder } from './frames.ts';

const BREAK = '\0';
const PLAIN_FIELDS = 14;

interface Rare {
  readonly upstream: readonly string[];
  readonly unfetched: readonly string[];
  readonly failedUpstream: readonly string[];
  readonly map: readonly { readonly group: string; readonly index: number }[];
  readonly secrets: readonly (readonly [string, string])[];
  readonly gang: RunOrder['gang'];
}

const NONE: readonly never[] = [];
const NOTHING_RARE: Rare = { upstream: [], unfetched: [], failedUpstream: [], map: [], secrets: [], gang: null };

export function orderText(order: RunOrder): string {
  const { upstream, unfetched, failedUpstream, map, secrets, gang } = order;
  const isPlain = upstream.length + unfetched.length + failedUpstream.length + map.length + secrets.length === 0;
  const fields = `${order.functionName}\0${order.tenant}\0${order.dag}\0${order.run}\0${order.task}\0${order.attempt}\0${order.fence}\0${order.effectKey}\0${order.token}\0${order.params}\0${order.checkpoint}\0${order.inputs}\0${order.runInfo}\0`;
  if (isPlain) return fields;
  const rare: Rare = {
    upstream: upstream.map(({ taskName }) => taskName),
    unfetched,
    failedUpstream,
    map: map.map(({ group, index }) => ({ group, index })),
    secrets,
    gang,
  };
  const rest = [JSON.stringify(rare), ...upstream.map(({ output }) => output), ...map.map(({ item }) => item)];
  return fields + rest.join(BREAK);
}

export function readOrder(text: string): RunOrder {
  const fields = text.split(BREAK);
  const at = (no: number): string => fields[no] as string;
  const told = at(PLAIN_FIELDS - 1);
  // Written out, and empty lists as they are: this is done for each attempt, and most have nothing rare.
  const rare = told === '' ? NOTHING_RARE : (JSON.parse(told) as Rare);
  const { upstream, unfetched, failedUpstream, map, secrets, gang } = rare;
  return {
    functionName: at(0),
    tenant: at(1),
    dag: at(2),
    run: at(3),
    task: at(4),
    attempt: Number(at(5)),
    fence: Number(at(6)),
    effectKey: at(7),
    token: at(8),
    params: at(9),
    checkpoint: at(10),
    inputs: at(11),
    runInfo: at(12),
    unfetched,
    failedUpstream,
    secrets,
    gang,
    upstream:
      upstream.length === 0 ? NONE : upstream.map((taskName, no) => ({ taskName, output: at(PLAIN_FIELDS + no) })),
    map: map.length === 0 ? NONE : map.map((one, no) => ({ ...one, item: at(PLAIN_FIELDS + upstream.length + no) })),
  };
}
