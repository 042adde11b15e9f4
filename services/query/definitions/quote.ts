/** A name as SQL takes it whatever is in it. */
export const quoteName = (name: string): string => `\`${name.replace(/[\\`]/g, String.raw`\$&`)}\``
