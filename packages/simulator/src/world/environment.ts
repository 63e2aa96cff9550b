/** What nodes and workers see of their world. The world itself knows its nodes and workers, so they can't import it. */
import type { EngineSettings } from '@signalbox/engine';
import type { FakeDatabase } from '../fake-store/index.ts';
import type { Chance } from './chance.ts';
import type { Door } from './door.ts';
import type { Events } from './events.ts';
import type { History } from './history.ts';
import type { Network } from './network.ts';
import type { SimTenants } from './tenants.ts';
import type { SimTokens } from './tokens.ts';

export interface Environment {
  readonly chance: Chance;
  readonly events: Events;
  readonly network: Network;
  readonly database: FakeDatabase;
  readonly history: History;
  readonly tokens: SimTokens;
  readonly tenants: SimTenants;
  readonly settings: EngineSettings;
  /** By machine. */
  readonly doors: Map<string, Door>;
  readonly nodes: readonly { readonly machine: string }[];
  /** A node that logs an error breaks the history, unless that is what it is about. */
  readonly mayLogErrors: boolean;
  tellWire(what: () => string): void;
}
