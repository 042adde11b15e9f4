/** A name as SQL of ClickHouse takes it, whatever is in it. */
export const quoteName = (name: string): string => `\`${name.replace(/[\\`]/g, String.raw`\$&`)}\``

/** Text as a literal of ClickHouse. */
export const quoteText = (text: string): string => `'${text.replace(/[\\']/g, String.raw`\$&`)}'`
