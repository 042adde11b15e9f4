/** Returns a time in ISO format, to the second. */
export const formatInstant = (ms: number): string => new Date(ms).toISOString().replace(/\.\d+Z$/, 'Z')
