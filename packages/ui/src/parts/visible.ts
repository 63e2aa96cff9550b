/** Text of users as it is: nothing in it is obeyed, and nothing in it hides. */

/** What terminals obey. Colours (`m`) have the first group; other sequences do not: cursor moves, titles, links. */
export const SEQUENCE =
  /\u001b\[([\d;:]*)m|\u001b\[[0-?]*[ -/]*[@-~]|\u001b\][^\u0007\u001b]*(?:\u0007|\u001b\\)|\u001b[@-Z\\-_]/g;
/** Characters that would turn the direction of what follows. */
const TURNING = /[\u200e\u200f\u061c\u202a-\u202e\u2066-\u2069]/g;
const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g;

/** What can't be seen, or would turn the text around, is named instead. */
export function visible(text: string): string {
  return text
    .replace(TURNING, (char) => `⟨U+${(char.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}⟩`)
    .replace(CONTROL, '\ufffd');
}

/** Without the colours that tools put into their errors. */
export const uncoloured = (text: string): string => visible(text.replace(SEQUENCE, ''));
