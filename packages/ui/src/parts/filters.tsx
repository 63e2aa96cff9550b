/** What a list is narrowed by. Each is in the address. */
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
}

/** A text that the server compares as a whole: it counts when it is complete. */
export function TextFilter({ label, placeholder, name, isShort = false }: TextFilterProps) {
  const [search, change] = useSearchState();
  const known = search[name] ?? '';
  const use = (text: string) => text.trim() !== known && change({ [name]: text.trim() || undefined });
  return (
    <input
      // What the address says in another way is shown, too.
      key={known}
      type="search"
      className={isShort ? 'search short' : 'search'}
      placeholder={placeholder}
      aria-label={label}
      defaultValue={known}
      onKeyDown={(event) => event.key === 'Enter' && use(event.currentTarget.value)}
      onBlur={(event) => use(event.currentTarget.value)}
    />
  );
}
