import type { Setting, Audience } from '#shared/config/setting.ts'

interface RecipientsOptions<T> {
  doc: string
  /** Plural noun for the items, such as `addresses` in `comma-separated addresses`. */
  are: string
  maxCount: number
  /** Returns undefined for an invalid item. */
  readOne(text: string): T | undefined
}

/** A setting for a comma-separated list, with two parsers. */
interface Recipients<T> {
  /** Throws on an invalid item; used to validate settings. */
  strict: Setting<readonly T[]>
  /** Skips invalid items, so that a typo in one does not block the others. */
  valid: Setting<readonly T[]>
}

/** Returns a setting for a list of recipients. */
export const createRecipientsSetting = <T>({ doc, are, maxCount, readOne }: RecipientsOptions<T>): Recipients<T> => {
  const allowed = `comma-separated ${are}, at most ${maxCount}`
  const readAll = (values = '') =>
    values
      .split(',')
      .map((item) => item.trim())
      .filter((item) => item !== '')
      .map(readOne)
  const parse = (values?: string): readonly T[] => {
    const all = readAll(values)
    const valid = all.filter((one) => one !== undefined)
    if (valid.length < all.length || all.length > maxCount) throw new Error(`must be ${allowed}`)
    return valid
  }
  const strict: Setting<readonly T[]> = { doc, audience: 'server', fallback: 'none', allowed, parse }
  return {
    strict,
    valid: {
      ...strict,
      parse: (values) =>
        readAll(values)
          .filter((one) => one !== undefined)
          .slice(0, maxCount),
    },
  }
}

interface PatternOptions {
  doc: string
  audience?: Audience
}

/** Returns a setting for an optional text that must match a pattern; `sentence` describes the allowed values. */
export const createPatternSetting = (
  shape: RegExp,
  sentence: string,
  { doc, audience = 'server' }: PatternOptions,
): Setting<string | undefined> => ({
  doc,
  audience,
  fallback: 'none',
  allowed: sentence.replace(/^must be /, ''),
  parse: (values) => {
    const text = values?.trim()
    if (text !== undefined && !shape.test(text)) throw new Error(sentence)
    return text
  },
})
