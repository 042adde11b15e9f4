/**
 * Maximum length of a time range in hours: 400 days, as long as the history is kept by default. The web UI imports this
 * file, so the file must not import schemas.
 */
export const maxHours = 9_600
