/** A static shell: every page is drawn in the browser from the public API. */
export const ssr = false
