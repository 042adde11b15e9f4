/** Characters that mean something in HTML, in text and in quoted attributes. */
const special: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}
/** Text as it stands in a page. */
export const escapeHtml = (text: string): string => text.replaceAll(/[&<>"']/g, (character) => special[character] ?? '')
