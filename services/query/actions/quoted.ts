/** A name as an identifier of ClickHouse, whatever is in it. */
export const identifier = (name: string): string => `\`${escaped(name).replaceAll('`', '\\`')}\``

/** Text as a literal of ClickHouse. */
export const literal = (text: string): string => `'${escaped(text).replaceAll("'", "\\'")}'`

const escaped = (text: string): string =>
  text
    .replaceAll('\\', '\\\\')
    .replaceAll('\0', String.raw`\0`)
    .replaceAll('\n', String.raw`\n`)
    .replaceAll('\r', String.raw`\r`)
    .replaceAll('\t', String.raw`\t`)
