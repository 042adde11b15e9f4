/** A number of things in words: `1 row`, `2 rows`. */
export const counted = (count: number, thing: string): string => `${count} ${thing}${count === 1 ? '' : 's'}`
