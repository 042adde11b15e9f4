import type { ChartData } from '#proto/query.ts'
import { saveFile } from '#lib/ui/save-file.ts'
import { toCsv } from './csv.ts'

/** The clipboard is there on secure origins only; elsewhere what was asked for comes as a file. Each tells what it did. */
export const takeCsv = async (data: ChartData): Promise<string> => {
  const csv = toCsv(data)
  if (await copied({ 'text/plain': new Blob([csv], { type: 'text/plain' }) })) return 'The rows are in the clipboard.'
  saveFile(new Blob([csv], { type: 'text/csv' }), `${data.chart.name}.csv`)
  return 'The rows were saved as a file.'
}

export const takeText = async (text: string, what: string): Promise<string> =>
  (await copied({ 'text/plain': new Blob([text], { type: 'text/plain' }) }))
    ? `${what} is in the clipboard.`
    : 'This browser lets no page copy on an address without https. Mark the text and copy it yourself.'

export const takePicture = async (svg: SVGSVGElement, title: string): Promise<string> => {
  const picture = await drawn(svg, title)
  if (await copied({ 'image/png': picture })) return 'The picture is in the clipboard.'
  saveFile(picture, `${title}.png`)
  return 'The picture was saved as a file.'
}

const copied = async (parts: Record<string, Blob>): Promise<boolean> => {
  try {
    await navigator.clipboard.write([new ClipboardItem(parts)])
    return true
  } catch {
    return false
  }
}

const scale = 2
const margin = 12
const titleHeight = 24
/** What a drawing takes from the style sheet, which its picture must bring along. */
const inherited = [
  'fill',
  'fill-opacity',
  'stroke',
  'stroke-opacity',
  'stroke-width',
  'stroke-dasharray',
  'font-size',
  'font-family',
  'font-weight',
  'text-anchor',
]

const drawn = async (svg: SVGSVGElement, title: string): Promise<Blob> => {
  const { width, height } = svg.getBoundingClientRect()
  const canvas = document.createElement('canvas')
  canvas.width = (width + 2 * margin) * scale
  canvas.height = (height + 2 * margin + titleHeight) * scale
  const pen = canvas.getContext('2d')
  if (!pen) throw new Error('This browser cannot draw pictures.')
  const style = getComputedStyle(document.documentElement)
  const surface = getComputedStyle(svg.closest('.card') ?? document.body)
  pen.scale(scale, scale)
  pen.fillStyle = surface.backgroundColor
  pen.fillRect(0, 0, canvas.width, canvas.height)
  pen.fillStyle = surface.color
  pen.font = `600 14px ${style.fontFamily}`
  pen.fillText(title, margin, margin + 12)
  pen.drawImage(await imageOf(svg, width, height), margin, margin + titleHeight, width, height)
  return new Promise((resolve, reject) => {
    canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error('The picture could not be made.'))), 'image/png')
  })
}

const imageOf = async (svg: SVGSVGElement, width: number, height: number): Promise<HTMLImageElement> => {
  const copy = svg.cloneNode(true)
  // A clone is what it was cloned from.
  if (!(copy instanceof SVGSVGElement)) throw new Error('The picture could not be made.')
  copy.setAttribute('xmlns', 'http://www.w3.org/2000/svg')
  copy.setAttribute('width', String(width))
  copy.setAttribute('height', String(height))
  const originals = [...svg.querySelectorAll('*')]
  for (const [index, element] of [...copy.querySelectorAll('*')].entries()) {
    const original = originals[index]
    if (!original) continue
    const style = getComputedStyle(original)
    for (const name of inherited) element.setAttribute(name, style.getPropertyValue(name))
  }
  const image = new Image()
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(new XMLSerializer().serializeToString(copy))}`
  await image.decode()
  return image
}
