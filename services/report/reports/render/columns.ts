import type { Column, Section } from './document.ts'

/** Columns of numbers. */
export const numeric = (...titles: string[]): Column[] => titles.map((title) => ({ title, isNumber: true }))
/** Columns of words. */
export const plain = (...titles: string[]): Column[] => titles.map((title) => ({ title }))

/** What cannot be told is a dash. */
export const known = (value: number | null, words: (value: number) => string): string =>
  value === null ? '–' : words(value)

/** A section that is one table; none without rows. */
export const tableSection = (
  title: string,
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
): Section | undefined => (rows.length === 0 ? undefined : { title, blocks: [{ kind: 'table', columns, rows }] })
