/** What a list is narrowed by. Each is in the address. */
import type { DagNamePage } from '@signalbox/protocol';
import { useQuery } from '@tanstack/react-query';
import { useId, useState } from 'react';
import { get, withQuery } from '../api/client.ts';
import { useSearchState } from '../api/search-state.ts';

interface SegmentedProps<Key extends string> {
  readonly label: string;
  readonly choices: readonly (readonly [key: Key, label: string, ...rest: readonly unknown[]])[];
  readonly value: string;
  readonly onChange: (key: Key) => void;
}

/** One of a few, all in sight. */
export function Segmented<Key extends string>({ label, choices, value, onChange }: SegmentedProps<Key>) {
  return (
    <div className="segmented" role="group" aria-label={label}>
      {choices.map(([key, text]) => (
        <button key={key} type="button" aria-pressed={value === key} onClick={() => onChange(key)}>
          {text}
        </button>
      ))}
    </div>
  );
}

type ShowProps<Key extends string> = Pick<SegmentedProps<Key>, 'label' | 'choices'> & {
  /** Its name in the address, which says nothing while the first choice holds. */
  readonly name: string;
};

/** One that the address names; the first unless told. */
export function useShown<Key extends string>(name: string, choices: ShowProps<Key>['choices']): Key {
  const [search] = useSearchState();
  return (choices.find(([key]) => key === search[name]) ?? choices[0])?.[0] as Key;
}

export function ShowFilter<Key extends string>({ label, choices, name }: ShowProps<Key>) {
  const [, change] = useSearchState();
  const value = useShown(name, choices);
  const onChange = (key: Key) => change({ [name]: key === choices[0]?.[0] ? undefined : key });
  return <Segmented label={label} choices={choices} value={value} onChange={onChange} />;
}

interface ChoiceFilterProps {
  readonly name: string;
  readonly label: string;
  /** What stands for no choice. */
  readonly all: string;
  readonly choices: readonly string[];
  readonly word: (choice: string) => string;
}

/** One of more than fit beside each other, or none. */
export function ChoiceFilter({ name, label, all, choices, word }: ChoiceFilterProps) {
  const [search, change] = useSearchState();
  return (
    <select
      aria-label={label}
      value={search[name] ?? ''}
      onChange={(event) => change({ [name]: event.target.value || undefined })}
    >
      <option value="">{all}</option>
      {choices.map((choice) => (
        <option key={choice} value={choice}>
          {word(choice)}
        </option>
      ))}
    </select>
  );
}

interface TextFilterProps {
  readonly label: string;
  readonly placeholder: string;
  readonly name: string;
  readonly isShort?: boolean;
  /** Offered while somebody types. */
  readonly offered?: readonly string[];
  readonly onType?: (text: string) => void;
}

/** A text that the server compares as a whole: it counts when it is complete. */
export function TextFilter({ label, placeholder, name, isShort = false, offered, onType }: TextFilterProps) {
  const [search, change] = useSearchState();
  const known = search[name] ?? '';
  const listId = useId();
  const use = (text: string) => text.trim() !== known && change({ [name]: text.trim() || undefined });
  return (
    <>
      <input
        // What the address says in another way is shown, too.
        key={known}
        type="search"
        list={offered === undefined ? undefined : listId}
        onChange={(event) => {
          const text = event.currentTarget.value;
          onType?.(text);
          // Chosen from what was offered: that is complete. One who types may go on.
          const { inputType = '' } = event.nativeEvent as Partial<InputEvent>;
          if (!/^(?:insertText|delete)/.test(inputType) && offered?.includes(text) === true) use(text);
        }}
        className={isShort ? 'search short' : 'search'}
        placeholder={placeholder}
        aria-label={label}
        defaultValue={known}
        onKeyDown={(event) => event.key === 'Enter' && use(event.currentTarget.value)}
        onBlur={(event) => use(event.currentTarget.value)}
      />
      {offered !== undefined && (
        <datalist id={listId}>
          {offered.map((one) => (
            <option key={one} value={one} />
          ))}
        </datalist>
      )}
    </>
  );
}

const MOST_OFFERED = 20;

/** Only what belongs to one DAG, which is offered by a part of its name. */
export function DagFilter({ label }: { readonly label: string }) {
  const [typed, setTyped] = useState('');
  const found = useQuery({
    queryKey: ['dag-offers', typed],
    queryFn: async ({ signal }) => (await get<DagNamePage>(withQuery('/v1/dag-names', { q: typed }), signal)).items,
    enabled: typed !== '',
    placeholderData: (known) => known,
  }).data;
  return (
    <TextFilter
      name="dag"
      label={label}
      placeholder="Name of a DAG  /"
      offered={found?.slice(0, MOST_OFFERED) ?? []}
      onType={setTyped}
    />
  );
}
