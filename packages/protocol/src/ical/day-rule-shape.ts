/** Days that may come again, as an iCal file has them. */

/** The same shape as the engine's type; this package imports nothing of ours. */
export interface DayRuleShape {
  readonly from: string;
  readonly days?: number;
  readonly repeat?: DayRepeatShape;
  readonly except?: readonly string[];
}

export interface DayRepeatShape {
  readonly freq: 'daily' | 'weekly' | 'monthly' | 'yearly';
  readonly interval?: number;
  readonly count?: number;
  readonly until?: string;
  readonly byDay?: readonly string[];
  readonly byMonth?: readonly number[];
  readonly byMonthDay?: readonly number[];
}
