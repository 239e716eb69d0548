/**
 * Text that no prompt cache has seen: the salt stands in front, and the order of the words follows from it. Ordinary
 * words of code and prose, because a mixture of experts reads random tokens differently from text.
 */
export function saltedText(salt: number, words: number): string {
  let state = (salt % 2147483646) + 1;
  const random = (): number => (state = (state * 48271) % 2147483647) / 2147483647;
  const lines: string[] = [`// ${salt.toString(36)}`];
  let left = words;
  while (left > 0) {
    const length = 6 + Math.floor(random() * 10);
    const line = Array.from({ length }, () => vocabulary[Math.floor(random() * vocabulary.length)] ?? "");
    lines.push(line.join(" ") + (random() < 0.3 ? ";" : "."));
    left -= length;
  }
  return lines.join("\n");
}

const vocabulary = (
  "the of and to in is that for it as was with be by on not he his but at are this have from or had an they which one you were all her she there would their we him been has when who will no more if out so up said what its about than into them can only other time new some could these two may first then do any like my now over such our man me even most made after also did many off before must well back through years where much your way down should because long each just state those people too mr how little good world make very year still see own work men day get here old both between life being under three never know same last another while us might great go come since against right came take used himself few house american use place during high without again home around small however mrs part school fact told until once general always " +
  "const let return function string number await async import export class interface readonly type value index length result error signal buffer stream option default server model token context cache batch layer request response table column query filter reduce map list array object promise timeout retry parse format write read open close path file folder module package version test assert expect config setting command window panel editor document line position range cursor selection event handler listener callback state store reducer action effect view component render update delete insert create select where group order limit"
).split(" ");
