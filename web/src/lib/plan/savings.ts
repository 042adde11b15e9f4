import type { Proof, Savings } from '#proto/advice.ts'

/** What each proof means, for those who read it the first time. */
export const proofWords: Record<Proof, { word: string; means: string }> = {
  verified: { word: 'Verified', means: 'The host tried it out on its data.' },
  estimated: { word: 'Estimated', means: 'Computed from what the host counted.' },
  unverified: { word: 'Unverified', means: 'What such a change usually does; nothing was computed.' },
}

/** The part of what is read now that would not be, from 0 to 1; null when nothing is read. */
export const savedShare = ({ marksBefore, marksAfter, bytesBefore, bytesAfter }: Savings): number | null => {
  if (bytesBefore > 0) return Math.max(0, 1 - bytesAfter / bytesBefore)
  return marksBefore > 0 ? Math.max(0, 1 - marksAfter / marksBefore) : null
}
