import type { Setting, Audience } from '#shared/config/setting.ts'

interface Shape<T> {
  doc: string
  /** Completes "must be comma-separated". */
  are: string
  most: number
  /** Undefined for a text that is none. */
  readOne(text: string): T | undefined
}

/** A comma-separated list, read in two ways. */
interface Recipients<T> {
  /** Takes offence at any that is none, for those who check what is set. */
  strict: Setting<readonly T[]>
  /** Leaves out those that are none: a slip of the pen in one must not keep alerts from the others. */
  sound: Setting<readonly T[]>
}

export const recipients = <T>({ doc, are, most, readOne }: Shape<T>): Recipients<T> => {
  const allowed = `comma-separated ${are}, at most ${most}`
  const readAll = (given = '') =>
    given
      .split(',')
      .map((item) => item.trim())
      .filter((item) => item !== '')
      .map(readOne)
  const parse = (given?: string): readonly T[] => {
    const all = readAll(given)
    const sound = all.filter((one) => one !== undefined)
    if (sound.length < all.length || all.length > most) throw new Error(`must be ${allowed}`)
    return sound
  }
  const strict: Setting<readonly T[]> = { doc, audience: 'server', fallback: 'none', allowed, parse }
  return {
    strict,
    sound: {
      ...strict,
      parse: (given) =>
        readAll(given)
          .filter((one) => one !== undefined)
          .slice(0, most),
    },
  }
}

interface TextShape {
  doc: string
  audience?: Audience
}

/** Text of one shape that may be absent; `sentence` says what it must be. */
export const shaped = (
  shape: RegExp,
  sentence: string,
  { doc, audience = 'server' }: TextShape,
): Setting<string | undefined> => ({
  doc,
  audience,
  fallback: 'none',
  allowed: sentence.replace(/^must be /, ''),
  parse: (given) => {
    const text = given?.trim()
    if (text !== undefined && !shape.test(text)) throw new Error(sentence)
    return text
  },
})
