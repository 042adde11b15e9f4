import type { ResultCell, ResultTable } from './result-cells.ts'
import { splitIntoWords, toStem } from './words.ts'

export type RowFilter = (row: readonly ResultCell[]) => boolean

const maxStates = 50
const failure = /fail|err|exception|lost|broken/i
const failureWords = /^(?:fail\w*|broken|crash\w*)$/

/** Returns whether a row has a state: a flag, a count above 0, or a text with the word. */
export const createStateFilter = (word: string, { columns }: ResultTable): RowFilter => {
  // A column with many texts contains names or messages, and no states.
  const stated = columns.map(({ texts }) =>
    texts.length > maxStates
      ? []
      : texts.filter((text) => splitIntoWords(text).some((each) => toStem(each) === toStem(word))),
  )
  const opposite = /^(?:in|un|non)(\p{L}{4,})$/u.exec(word)?.[1]
  return (row) =>
    row.some((cell, index) => {
      const own = columns[index]?.words ?? []
      const names = (name: string) => own.some((each) => toStem(each) === toStem(name) && each !== 'is')
      const isFlag = cell.isTrue !== undefined || (own[0] === 'is' && cell.number !== null)
      const value = cell.isTrue ?? (cell.number ? cell.number.value !== 0 : undefined)
      if (isFlag && opposite !== undefined && names(opposite)) return value === false
      // A text such as that in `last_fail_reason` is empty in other states.
      if (names(word)) return value ?? (cell.text ?? '') !== ''
      if (failureWords.test(word)) {
        if (cell.number) return own.includes('code') && value === true
        return failure.test(cell.text ?? '')
      }
      return cell.text !== null && (stated[index]?.includes(cell.text) ?? false)
    })
}
