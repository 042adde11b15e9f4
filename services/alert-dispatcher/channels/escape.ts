/** The three characters that begin markup in Slack's texts and in Telegram's HTML. */
export const escapeAngles = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')

/** HTML, within attributes too. */
export const escapeHtml = (text: string): string =>
  escapeAngles(text).replaceAll('"', '&quot;').replaceAll("'", '&#39;')

/** Markdown within a line and what begins headings and lists; a backslash before punctuation stands for the punctuation. */
export const escapeMarkdown = (text: string): string =>
  text.replaceAll(/[\\`*_~|<>[]/g, '\\$&').replaceAll(/^(\s*)([#+-])/gm, '$1\\$2')
