/**
 * What goes wrong in a history, drawn from its seed before it begins: a few kinds of faults for each history, so that some are
 * full of crashes and others of clocks that jump. Each fault ends by itself, and can be ended early by healing.
 */
import type { NodeId, ShardNo } from '@signalbox/engine';
import { FakeStore } from './fake-store/index.ts';
import type { Fault } from './fault.ts';
import { DatabaseTroubles } from './fault-database.ts';
import type { Chance } from './world/chance.ts';
import type { World } from './world/world.ts';

type Draw = (world: World, chance: Chance, troubles: DatabaseTroubles) => Omit<Fault, 'at'>;

const span = (chance: Chance, min: number, max: number) => Math.round(min * (max / min) ** chance.next());

const KINDS: Readonly<Record<string, Draw>> = {
  'node killed': (world, chance) => {
    const node = chance.pick(world.nodes);
    const how = chance.happens(0.7) ? 'kill' : 'power';
    return {
      what: `${node.machine} killed (${how})`,
      forMs: span(chance, 100, 10_000),
      begin: () => {
        node.crash(how);
        return () => {
          if (!node.isUp && node.isWanted) node.start();
        };
      },
    };
  },
  'node killed in the midst': (world, chance) => {
    const node = chance.pick(world.nodes);
    const count = chance.int(0, 6);
    return {
      what: `${node.machine} dies after ${count} more messages`,
      forMs: span(chance, 500, 10_000),
      begin: () => {
        node.crashAfterMessages(count);
        return () => {
          node.process.dies = null;
          if (!node.isUp && node.isWanted) node.start();
        };
      },
    };
  },
  'node leaves': (world, chance) => {
    const node = chance.pick(world.nodes);
    return {
      what: `${node.machine} leaves in order`,
      forMs: span(chance, 500, 8_000),
      begin: () => {
        node.leave();
        return () => {
          if (node.isLeaving) node.crash('kill');
          if (!node.isUp && node.isWanted) node.start();
        };
      },
    };
  },
  'node paused': (world, chance) => {
    const node = chance.pick(world.nodes);
    const kind = chance.happens(0.5) ? 'frozen' : 'stopped';
    const timersFirst = chance.happens(0.5);
    const isUnheard = chance.happens(0.5);
    return {
      what: `${node.machine} ${kind}${isUnheard ? ', unheard by others' : ''}${timersFirst ? '' : ', then reads first'}`,
      forMs: span(chance, 200, 25_000),
      begin: () => {
        node.pause(kind);
        if (isUnheard) world.network.unheard(node.machine);
        return () => node.resume(timersFirst);
      },
    };
  },
  'loop blocked': (world, chance) => {
    const node = chance.pick(world.nodes);
    const timersFirst = chance.happens(0.7);
    return {
      what: `the loop of ${node.machine} is blocked${timersFirst ? '' : ', then reads first'}`,
      forMs: span(chance, 200, 20_000),
      begin: () => {
        node.block();
        return () => node.resume(timersFirst);
      },
    };
  },
  'worker killed': (world, chance) => {
    const worker = chance.pick(world.workers);
    const how = chance.happens(0.7) ? 'kill' : 'power';
    return {
      what: `${worker.machine} killed (${how})`,
      forMs: span(chance, 100, 20_000),
      begin: () => {
        worker.crash(how);
        return () => {
          if (worker.isWanted) worker.start();
        };
      },
    };
  },
  'worker paused': (world, chance) => {
    const worker = chance.pick(world.workers);
    const kind = chance.happens(0.5) ? 'frozen' : 'stopped';
    const timersFirst = chance.happens(0.5);
    return {
      what: `${worker.machine} ${kind}`,
      forMs: span(chance, 500, 30_000),
      begin: () => {
        worker.pause(kind);
        return () => worker.resume(timersFirst);
      },
    };
  },
  'worker drains': (world, chance) => {
    const worker = chance.pick(world.workers);
    return {
      what: `${worker.machine} drains`,
      forMs: 0,
      begin: () => {
        worker.drain();
        return null;
      },
    };
  },
  'worker is evicted': (world, chance) => {
    const worker = chance.pick(world.workers);
    return {
      what: `${worker.machine} is evicted`,
      forMs: 0,
      begin: () => {
        worker.evict();
        return null;
      },
    };
  },
  'worker repeats': (world, chance) => {
    const worker = chance.pick(world.workers);
    return {
      what: `${worker.machine} says things twice`,
      forMs: span(chance, 2_000, 30_000),
      begin: () => {
        worker.repeats = 0.5;
        return () => {
          worker.repeats = 0;
        };
      },
    };
  },
  'way cut': (world, chance) => {
    const machines = [...world.nodes, ...world.workers].map(({ machine }) => machine);
    const from = chance.pick(machines);
    const to = chance.pick(world.nodes.map(({ machine }) => machine));
    const [a, b] = chance.happens(0.5) ? [from, to] : [to, from];
    return {
      what: `the way from ${a} to ${b} is cut`,
      forMs: span(chance, 200, 20_000),
      begin: () => world.network.cut(a, b),
    };
  },
  'set cut off': (world, chance) => {
    const machines = [...world.nodes, ...world.workers].map(({ machine }) => machine);
    const inside = machines.filter(() => chance.happens(0.4));
    const outside = machines.filter((machine) => !inside.includes(machine));
    return {
      what: `{${inside.join(' ')}} and {${outside.join(' ')}} are cut from each other`,
      forMs: span(chance, 500, 20_000),
      begin: () => {
        const heals = inside.flatMap((a) => outside.flatMap((b) => [world.network.cut(a, b), world.network.cut(b, a)]));
        return () => {
          for (const heal of heals) heal();
        };
      },
    };
  },
  'streams forgotten': (world, chance) => {
    const machine = chance.pick([...world.nodes, ...world.workers]).machine;
    return {
      what: `streams of ${machine} are dead without a word`,
      forMs: 8_000,
      begin: () => {
        world.network.darken(machine);
        return () => undefined;
      },
    };
  },
  'network slow': (world, chance) => {
    const factor = chance.pick([5, 30, 100]);
    return {
      what: `messages take ${factor} times as long`,
      forMs: span(chance, 1_000, 15_000),
      begin: () => {
        world.network.slowness = factor;
        return () => {
          world.network.slowness = 1;
        };
      },
    };
  },
  'clock set': (world, chance) => {
    const node = chance.pick(world.nodes);
    const [min, max] = chance.pick([
      [100, 5_000],
      [5_000, 120_000],
      [120_000, 86_000_000],
    ] as const);
    const byMs = span(chance, min, max) * (chance.happens(0.5) ? 1 : -1);
    return {
      what: `the clock of ${node.machine} is set by ${byMs} ms`,
      forMs: 0,
      begin: () => {
        node.jumpClock(byMs);
        return null;
      },
    };
  },
  'shards stolen': (world, chance) => {
    const shards = Array.from({ length: 64 }, (_, shard) => shard as ShardNo).filter(() => chance.happens(0.7));
    return {
      what: `${shards.length} shards are taken by a stranger`,
      forMs: 0,
      begin: () => {
        const { tables } = world.database;
        const seen = shards.map((shard) => ({ shard, seenEpoch: tables.shard(shard).epoch }));
        const stranger = new FakeStore(world.database, { name: 'stranger' });
        const request = { nodeId: 'stranger.1' as NodeId, shards: seen, lockTimeoutMs: 500, windowGraceMs: 10_000 };
        stranger.takeShards(request).catch(() => undefined);
        return null;
      },
    };
  },
  database: (world, chance, troubles) => troubles.draw(world, chance),
  'node without database': (world, chance, troubles) => {
    const { machine } = chance.pick(world.nodes);
    const how = chance.pick(['cut', 'half-open', 'refuse'] as const);
    return {
      what: `${machine} does not reach the database (${how})`,
      forMs: span(chance, 200, 12_000),
      begin: () => troubles.isolate(machine, how),
    };
  },
  'commits go wrong': (_world, chance, troubles) => troubles.drawSteps(chance),
};

const FAULT_KINDS = Object.keys(KINDS);

/** Faults over a span of time, of a few kinds. */
export function drawFaults(world: World, from: number, until: number): readonly Fault[] {
  const chance = world.chance.fork('faults');
  const troubles = new DatabaseTroubles(world);
  if (chance.happens(0.05)) return [];
  const kinds = FAULT_KINDS.filter(() => chance.happens(0.3));
  if (kinds.length === 0) kinds.push(chance.pick(FAULT_KINDS));
  const meanMs = chance.pick([1_500, 4_000, 10_000]);
  const faults: Fault[] = [];
  for (let at = from + chance.wait(meanMs); at < until; at += chance.wait(meanMs)) {
    const draw = KINDS[chance.pick(kinds)]!;
    faults.push({ at, ...draw(world, chance, troubles) });
  }
  return faults;
}
