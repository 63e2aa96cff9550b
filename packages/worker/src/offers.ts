/** What the worker offers to tasks: resources, found or given, and labels. */
import { availableParallelism, totalmem } from 'node:os';
import {
  type Amounts,
  amountForm,
  isPlacementName,
  type Labels,
  MAX_LABEL_CHARS,
  MAX_LABELS,
  MAX_RESOURCES,
  readAmount,
  type WorkerOffers,
} from '@signalbox/protocol';

export interface OfferOptions {
  /** `cpu` in processors, `memory` and `disk` as sizes, anything else in pieces. Processors and memory are found unless told. */
  readonly resources?: Readonly<Record<string, number | string>>;
  readonly labels?: Labels;
}

export function offersOf({ resources = {}, labels = {} }: OfferOptions): WorkerOffers {
  return { resources: { ...found(), ...amountsOf(resources) }, labels: labelsOf(labels) };
}

/** What the system, or the control group of this process, lets it have. */
function found(): Amounts {
  const limit = process.constrainedMemory();
  const total = totalmem();
  return { cpu: availableParallelism() * 1_000, memory: limit > 0 && limit < total ? limit : total };
}

function amountsOf(given: NonNullable<OfferOptions['resources']>): Amounts {
  const amounts: Record<string, number> = {};
  for (const [name, value] of Object.entries(given)) {
    if (!isPlacementName(name)) throw new TypeError(`resources has "${name}"; a name has 1 to 63 letters or digits`);
    const amount = readAmount(name, value);
    if (amount === null) throw new TypeError(`resources has ${name}=${value}; give ${amountForm(name)}`);
    amounts[name] = amount;
  }
  if (Object.keys(amounts).length > MAX_RESOURCES)
    throw new TypeError(`resources has more than ${MAX_RESOURCES} names`);
  return amounts;
}

function labelsOf(labels: Labels): Labels {
  const entries = Object.entries(labels);
  if (entries.length > MAX_LABELS) throw new TypeError(`labels has more than ${MAX_LABELS} names`);
  for (const [name, value] of entries) {
    if (!isPlacementName(name)) throw new TypeError(`labels has "${name}"; a name has 1 to 63 letters or digits`);
    if (value === '' || value.length > MAX_LABEL_CHARS)
      throw new TypeError(`labels has ${name}="${value}"; give 1 to ${MAX_LABEL_CHARS} characters`);
  }
  return labels;
}
