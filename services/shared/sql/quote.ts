/** Quotes any name as an identifier of ClickHouse. */
export const quoteName = (name: string): string => `\`${name.replace(/[\\`]/g, String.raw`\$&`)}\``

/** Text as a literal of ClickHouse. */
export const quoteText = (text: string): string => `'${text.replace(/[\\']/g, String.raw`\$&`)}'`
