import type { NewRateCard, RateCardView } from '@signalbox/protocol';
import { useState } from 'react';
import { put } from '../../api/client.ts';
import { TextField } from '../../parts/field.tsx';
import { FormDialog } from '../../parts/form-dialog.tsx';

const FIELDS = [
  ['slotHour', 'Hour of a slot'],
  ['cpuHour', 'Hour of a processor, measured'],
  ['gibHour', 'Hour of a GiB, by the measured peak'],
  ['critical', 'Factor for critical runs'],
  ['high', 'Factor for high runs'],
  ['normal', 'Factor for normal runs'],
  ['low', 'Factor for low runs'],
  ['aboveSlots', 'Burst: above so many slots at a time'],
  ['premium', 'Burst: factor for those slots'],
] as const;
type Field = (typeof FIELDS)[number][0];
const OPTIONAL: readonly Field[] = ['aboveSlots', 'premium'];

function textsOf(card: RateCardView | undefined): Record<Field | 'currency', string> {
  const { critical = 3, high = 1, normal = 1, low = 1 } = card?.classes ?? {};
  const numbers = { slotHour: card?.slotHour ?? 0, cpuHour: card?.cpuHour ?? 0, gibHour: card?.gibHour ?? 0 };
  const texts = Object.entries({ ...numbers, critical, high, normal, low }).map(([key, value]) => [key, String(value)]);
  return {
    ...(Object.fromEntries(texts) as Record<Field, string>),
    aboveSlots: card?.burst == null ? '' : String(card.burst.aboveSlots),
    premium: card?.burst == null ? '' : String(card.burst.premium),
    currency: card?.currency ?? 'EUR',
  };
}

export function RatesDialog({
  card,
  onClose,
}: {
  readonly card: RateCardView | undefined;
  readonly onClose: () => void;
}) {
  const [texts, setTexts] = useState(() => textsOf(card));
  const isWrong = (field: Field) =>
    !/^\d{1,6}(\.\d{1,6})?$/.test(texts[field]) && !(OPTIONAL.includes(field) && texts[field] === '');
  const hasBurst = texts.aboveSlots !== '' && texts.premium !== '';
  const isHalf = (texts.aboveSlots === '') !== (texts.premium === '');
  const number = (field: Field) => Number(texts[field]);
  const made = (): NewRateCard => ({
    currency: texts.currency,
    ...{ slotHour: number('slotHour'), cpuHour: number('cpuHour'), gibHour: number('gibHour') },
    classes: {
      ...{ critical: number('critical'), high: number('high'), normal: number('normal'), low: number('low') },
    },
    burst: hasBurst ? { aboveSlots: number('aboveSlots'), premium: number('premium') } : null,
  });
  return (
    <FormDialog
      title="Prices"
      wide
      verb="Set the prices"
      isReady={!FIELDS.some(([field]) => isWrong(field)) && !isHalf && /^[A-Z]{3}$/.test(texts.currency)}
      onClose={onClose}
      change={{
        run: () => put<RateCardView>('/v1/costs/rates', made()),
        done: 'The prices hold from today (UTC) on.',
        touches: ['rates', 'costs', 'budgets'],
      }}
    >
      <p className="soft">They hold for all tenants, from today (UTC) on. Earlier days keep their prices.</p>
      <div className="form-grid">
        <TextField
          label="Currency"
          value={texts.currency}
          disabled={card !== undefined}
          onChange={(currency) => setTexts({ ...texts, currency })}
        />
        {FIELDS.map(([field, label]) => (
          <TextField
            key={field}
            label={label}
            value={texts[field]}
            onChange={(text) => setTexts({ ...texts, [field]: text })}
            fault={isWrong(field) ? 'must be a number, such as 0.04' : undefined}
          />
        ))}
      </div>
    </FormDialog>
  );
}
