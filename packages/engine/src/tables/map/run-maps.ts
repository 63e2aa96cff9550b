/**
 * The expanded maps of one run, and where its tasks are by number.
 *
 * Tasks of the spec have the numbers 0 … T−1. For a task in a mapped group that is the *placeholder*. When a map expands in
 * a *scope* (the run, or one instance of the mapped group around it), its instances get a block of numbers from T on: member
 * j of instance i is `firstNo + i × members + j`. Members of a mapped group inside are placeholders in turn, one in each
 * instance. A scope is named by the number of the first member of its instance; the run itself is RUN_SCOPE.
 */

import { assert } from '../../model/assert.ts';
import type { TaskSlot } from '../../model/ids.ts';
import type { MappedGroup, MapShape } from '../../model/map/shape.ts';

import { NO_TASK } from '../task/task-table.ts';

export const RUN_SCOPE = -1;

/** Slots are taken in pages: a map of 100,000 never asks for one large block. */
const PAGE_SLOTS = 1_024;

/** Counts of one member, over all that came of it: instances, and placeholders in them that have not expanded. */
export interface Tally {
  size: number;
  succeeded: number;
  failed: number;
  upstreamFailed: number;
  skipped: number;
  /** Of its instances in this expansion alone, those that have ended in whatever way, cancelled ones too. */
  over: number;
}

export interface Expansion {
  readonly group: MappedGroup;
  readonly scope: number;
  /** The expansion that the scope is an instance of, and which one; null for the run. */
  readonly parent: Expansion | null;
  readonly parentIndex: number;
  readonly firstNo: number;
  /** Instances; 0 when it was refused, for the run would have too many tasks. */
  readonly total: number;
  /** Instances below this one are there; the others follow. */
  unfolded: number;
  readonly tallies: readonly Tally[];
  /** First slots of its pages. */
  readonly pages: TaskSlot[];
}

export class RunMaps {
  /** Another one when tasks were added to the run: its groups are the same. */
  shape: MapShape;
  private readonly taskCount: number;
  /** By their numbers, which is also the order in which they came: an outer one before those in it. */
  readonly expansions: Expansion[] = [];
  private readonly byScope = new Map<number, Expansion>();
  /** Who asks for one task mostly asks for its neighbours next. */
  private lastHolding: Expansion | null = null;
  /** Hooks that run for each retry, by their numbers, which may have to run again; null for all of them. */
  refires: Set<number> | null = null;
  /** The next free number. Those of a map that was removed are not used again. */
  nextNo: number;
  /** Tasks that its maps have made, and still have. */
  taskTotal = 0;
  /** Pages of maps that were removed: kept until the run goes, for lanes may still know their slots. */
  readonly removedPages: Page[] = [];

  constructor(shape: MapShape, taskCount: number) {
    this.shape = shape;
    this.taskCount = taskCount;
    this.nextNo = taskCount;
  }

  add(groupNo: number, scope: number, firstNo: number, total: number): Expansion {
    const group = this.shape.groups[groupNo];
    assert(group !== undefined, 'a map is of a mapped group');
    assert(firstNo >= this.nextNo, 'numbers of tasks are given once');
    assert(this.find(groupNo, scope) === undefined, 'a map expands once (I34)');
    const parent = scope === RUN_SCOPE ? null : this.holding(scope);
    assert(parent !== undefined, 'a map expands in an instance that is there');
    const expansion: Expansion = {
      group,
      scope,
      parent,
      parentIndex: parent === null ? 0 : Math.floor((scope - parent.firstNo) / parent.group.members.length),
      firstNo,
      total,
      unfolded: 0,
      tallies: group.members.map(() => ({
        size: total,
        succeeded: 0,
        failed: 0,
        upstreamFailed: 0,
        skipped: 0,
        over: 0,
      })),
      pages: [],
    };
    this.expansions.push(expansion);
    this.byScope.set(this.key(groupNo, scope), expansion);
    this.reserve(firstNo, groupNo, total);
    this.taskTotal += total * group.members.length;
    return expansion;
  }

  /** Numbers of this block are in use, or were. */
  reserve(firstNo: number, groupNo: number, total: number): void {
    const members = this.shape.groups[groupNo]?.members.length ?? 0;
    // One that was refused has a number too, by which it is stored.
    this.nextNo = Math.max(this.nextNo, firstNo + Math.max(1, total * members));
  }

  /** The expansion whose first task has this number. */
  startingAt(firstNo: number): Expansion | undefined {
    const { expansions } = this;
    let [low, high] = [0, expansions.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (expansions[middle]!.firstNo < firstNo) low = middle + 1;
      else high = middle;
    }
    return expansions[low]?.firstNo === firstNo ? expansions[low] : undefined;
  }

  /** Takes it out, and all that expanded in its instances. */
  remove(expansion: Expansion): void {
    this.lastHolding = null;
    const gone = new Set(this.within(expansion));
    const kept = this.expansions.filter((other) => !gone.has(other));
    this.expansions.splice(0, this.expansions.length, ...kept);
    for (const other of gone) {
      this.byScope.delete(this.key(other.group.no, other.scope));
      this.taskTotal -= other.total * other.group.members.length;
      this.removedPages.push(...pagesIn(other));
    }
  }

  /** It, and those that expanded in its instances, outer ones first. */
  within(expansion: Expansion): Expansion[] {
    const inside = new Set([expansion]);
    for (const other of this.expansions) if (other.parent !== null && inside.has(other.parent)) inside.add(other);
    return [...inside];
  }

  find(groupNo: number, scope: number): Expansion | undefined {
    return this.byScope.get(this.key(groupNo, scope));
  }

  /** The expansion that this number, from T on, is an instance of; undefined when it is no longer, or not yet, there. */
  holding(no: number): Expansion | undefined {
    const { expansions, lastHolding } = this;
    if (lastHolding !== null && holds(lastHolding, no)) return lastHolding;
    let [low, high] = [0, expansions.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (expansions[middle]!.firstNo <= no) low = middle + 1;
      else high = middle;
    }
    const found = expansions[low - 1];
    if (found === undefined || !holds(found, no)) return undefined;
    this.lastHolding = found;
    return found;
  }

  /** A task that a map has made has ended, in whatever way, or goes on again. */
  countOver(no: number, by: 1 | -1): void {
    const { firstNo, group, tallies } = this.holding(no)!;
    tallies[(no - firstNo) % group.members.length]!.over += by;
  }

  /** -1 when there is no such task. */
  slotOf(no: number): TaskSlot {
    const expansion = this.holding(no);
    return expansion === undefined ? NO_TASK : slotIn(expansion, no - expansion.firstNo);
  }

  specOf(no: number): number {
    if (no < this.taskCount) return no;
    const { firstNo, group } = this.holding(no)!;
    return group.members[(no - firstNo) % group.members.length]!;
  }

  /** How many mapped groups it stands in. */
  depthOf(no: number): number {
    return no < this.taskCount ? 0 : this.holding(no)!.group.depth + 1;
  }

  /** The group that a placeholder waits to be expanded with; undefined for any other task. */
  waitsFor(no: number): MappedGroup | undefined {
    return this.shape.groupBelow(this.specOf(no), this.depthOf(no));
  }

  /** What has become of a placeholder. */
  expansionOf(no: number): Expansion | undefined {
    const group = this.waitsFor(no);
    return group === undefined ? undefined : this.find(group.no, this.scopeOf(no));
  }

  /** The instance that it stands in, by the number of its first member. */
  scopeOf(no: number): number {
    if (no < this.taskCount) return RUN_SCOPE;
    const expansion = this.holding(no)!;
    return no - ((no - expansion.firstNo) % expansion.group.members.length);
  }

  /** Task `spec` as this one sees it: in the nearest scope around both. A placeholder where it is in a map of its own. */
  near(no: number, spec: number): number {
    if (no < this.taskCount) return spec;
    let expansion = this.holding(no)!;
    let index = Math.floor((no - expansion.firstNo) / expansion.group.members.length);
    const own = expansion.group.members[(no - expansion.firstNo) % expansion.group.members.length]!;
    const depth = this.shape.commonDepth(own, spec);
    while (expansion.group.depth >= depth) {
      if (expansion.parent === null) return spec;
      index = expansion.parentIndex;
      expansion = expansion.parent;
    }
    return numberIn(expansion, index, spec);
  }

  /** The task itself and, of a placeholder that has expanded, all that came of it. */
  visit(no: number, visitor: (no: number) => void): void {
    visitor(no);
    const expansion = this.expansionOf(no);
    if (expansion === undefined) return;
    const [first, step] = [numberIn(expansion, 0, this.specOf(no)), expansion.group.members.length];
    const isDeeper = this.shape.chains[this.specOf(no)]!.length > expansion.group.depth + 1;
    for (let i = 0; i < expansion.unfolded; i++) {
      if (isDeeper) this.visit(first + i * step, visitor);
      else visitor(first + i * step);
    }
  }

  /** Which instance of each map around it, the outermost first. */
  pathOf(no: number): number[] {
    const path: number[] = [];
    if (no < this.taskCount) return path;
    let expansion: Expansion | null = this.holding(no)!;
    let index = Math.floor((no - expansion.firstNo) / expansion.group.members.length);
    while (expansion !== null) {
      path.unshift(index);
      index = expansion.parentIndex;
      expansion = expansion.parent;
    }
    return path;
  }

  /** The number of the placeholder that an instance comes from. */
  placeholderOf(expansion: Expansion, spec: number): number {
    return expansion.parent === null ? spec : numberIn(expansion.parent, expansion.parentIndex, spec);
  }

  /** All tasks that are there, in the order of their numbers, without those of the spec. */
  forEachSlot(visitor: (slot: TaskSlot, no: number) => void): void {
    for (const expansion of this.expansions) {
      const count = expansion.unfolded * expansion.group.members.length;
      for (let offset = 0; offset < count; offset++) visitor(slotIn(expansion, offset), expansion.firstNo + offset);
    }
  }

  private key(groupNo: number, scope: number): number {
    return (scope + 1) * this.shape.groups.length + groupNo;
  }
}

function holds({ firstNo, unfolded, group }: Expansion, no: number): boolean {
  return no >= firstNo && no < firstNo + unfolded * group.members.length;
}

export function numberIn(expansion: Expansion, index: number, spec: number): number {
  return expansion.firstNo + index * expansion.group.members.length + expansion.group.placeOf.get(spec)!;
}

function slotIn(expansion: Expansion, offset: number): TaskSlot {
  const perPage = pageSlots(expansion);
  return (expansion.pages[Math.floor(offset / perPage)]! + (offset % perPage)) as TaskSlot;
}

/** Whole instances. */
function pageSlots({ group: { members } }: Expansion): number {
  return Math.max(1, Math.floor(PAGE_SLOTS / members.length)) * members.length;
}

/** The last page is as long as it has to be. */
function pageLength(expansion: Expansion, page: number): number {
  const perPage = pageSlots(expansion);
  return Math.min(perPage, expansion.total * expansion.group.members.length - page * perPage);
}

interface Page {
  readonly base: TaskSlot;
  readonly length: number;
}

function pagesIn(expansion: Expansion): Page[] {
  return expansion.pages.map((base, page) => ({ base, length: pageLength(expansion, page) }));
}

/** All slots that the maps of a run hold, those of removed ones included. */
export function pagesOf({ expansions, removedPages }: RunMaps): Page[] {
  return [...expansions.flatMap(pagesIn), ...removedPages];
}

/** Takes slots for the instances up to this one. `allocate` is told how many, and the number of the first. */
export function takePages(
  expansion: Expansion,
  until: number,
  allocate: (length: number, firstNo: number) => TaskSlot,
): void {
  const [perPage, wanted] = [pageSlots(expansion), until * expansion.group.members.length];
  while (expansion.pages.length * perPage < wanted) {
    const page = expansion.pages.length;
    expansion.pages.push(allocate(pageLength(expansion, page), expansion.firstNo + page * perPage));
  }
}
