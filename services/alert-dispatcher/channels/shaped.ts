import type { Audience, Setting } from '#shared/config/setting.ts'

interface Shape {
  doc: string
  audience?: Audience
}

/** Text of one shape that may be absent; `sentence` says what it must be. */
export const shaped = (
  shape: RegExp,
  sentence: string,
  { doc, audience = 'server' }: Shape,
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
