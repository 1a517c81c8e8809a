"""Short forms in the names of columns and relations, written out: *dept_mgr* → *department manager*.

Graphs that were tables have such names. What is usual in them is a table here; a word that is none, of
*wrd_in_cncl*, may still be short for one of the question (`is_short_for`).
"""

from __future__ import annotations

from collections.abc import Iterable

from clew.text.lexicon import Lexicon

_TABLE = """
    acct=account acq=acquired addr=address affil=affiliation agmt=agreement amt=amount appr=approved
    approx=approximate appt=appointment apt=airport arr=arrival assoc=association asst=assistant
    attr=attribute atty=attorney auth=author avg=average bal=balance bday=birthday beg=begin
    bldg=building bldr=builder calc=calculated capt=captain cert=certificate chk=check cls=class
    cnt=count cntry=country coll=collected comm=commission cond=condition conf=conference contr=contract
    coord=coordinates ctr=center ctrl=control ctry=country curr=current cust=customer deg=degree
    deliv=delivery dep=departure dept=department desc=description descr=description dest=destination
    det=determined diag=diagnosis diff=difference dir=director disc=discount dist=distance
    distr=district div=division dlv=delivery dob=birth_date dod=death_date dt=date dup=duplicate
    dur=duration elev=elevation emp=employee eng=engine env=environment equip=equipment evt=event
    exec=executive exped=expedition facil=facility fav=favourite freq=frequency govt=government
    grp=group hosp=hospital hq=headquarters hr=hour hrs=hours ht=height ident=identified img=image
    ind=industry inhab=inhabitants init=initial insp=inspection inst=institution instr=instrument
    intl=international inv=invoice kts=knots lang=language lat=latitude len=length lic=license
    lng=longitude loc=location lon=longitude lvl=level maint=maintenance manuf=manufacturer max=maximum
    mbr=member mdl=model meas=measured med=medication memb=member mfg=manufacturer mfr=manufacturer
    mgmt=management mgr=manager mins=minutes misc=miscellaneous mkr=maker mkt=market
    mnth=month msg=message mtg=meeting mth=month nat=nationality natl=national nbr=number
    neighb=neighbour nm=name num=number obs=observed occ=occupation op=operator opp=opposing
    opr=operator org=organization orig=origin ownr=owner pat=patient pct=percent perf=performance
    pkg=package plyr=player pmt=payment pos=position pref=preferred prereq=prerequisite pres=president
    prev=previous princ=principal prio=priority prod=product prof=professor prog=programme proj=project
    prov=province pts=points publ=publisher purch=purchase pwr=power qtr=quarter qty=quantity
    rcv=receive recd=received refurb=refurbished reg=registration rel=related repl=replacement
    req=required resp=responsible resv=reservation rm=room rnd=round rte=route rwy=runway sched=schedule
    seg=segment sess=session sev=severity spec=specification spkr=speaker spons=sponsor sq=square
    src=source srv=server stat=status std=standard stf=staff stn=station stu=student stud=student
    subj=subject supp=supplier suppl=supplier supv=supervisor surg=surgeon svc=service sys=system
    tchr=teacher tech=technician tel=telephone temp=temperature terr=territory tkt=ticket tm=time
    tot=total tourn=tournament trans=transaction trn=train twn=town txn=transaction uni=university
    univ=university upd=updated usr=user val=value vehic=vehicle ven=venue vend=vendor ver=version
    vlv=valve vnd=vendor vol=volume vsl=vessel wgt=weight whs=warehouse wk=week wt=weight yr=year
    yrs=years zn=zone
    """
"""Usual short forms of the names of columns; two words are joined by `_`."""
WRITTEN_OUT = {short: full.replace("_", " ") for short, full in (p.split("=") for p in _TABLE.split())}
LEAST_LETTERS = 3
"""Letters that may be short for a word; of two, too many words have both."""


def written_out(label: str) -> str:
    """A label in words without its usual short forms, of which each stays that is a word of its own alone."""
    words = label.split()
    return " ".join(_written_out(word, alone=len(words) == 1) for word in words)


def _written_out(word: str, *, alone: bool) -> str:
    stays = alone and word in Lexicon.load()
    return word if stays else WRITTEN_OUT.get(word, word)


def initials_of(labels: Iterable[str]) -> dict[str, str]:
    """The labels of several words by their first letters, where one alone has these: *dob*, *gdp*."""
    labels_by_initials: dict[str, str] = {}
    for label in dict.fromkeys(labels):
        words = label.split()
        if len(words) > 1 and all(word.isalpha() for word in words):
            initials = "".join(word[0] for word in words)
            labels_by_initials[initials] = "" if initials in labels_by_initials else label
    return {initials: label for initials, label in labels_by_initials.items() if label}


def is_short_for(short: str, word: str) -> bool:
    """Whether letters that are no word may stand for one: its first letter and more of it, in order.

    *cncl* may stand for *council*, *surg* for *surgery*; *stn* not for *step*.
    """
    if not LEAST_LETTERS <= len(short) < len(word) or short[0] != word[0] or not short.isalpha():
        return False
    letters = iter(word)
    if not all(letter in letters for letter in short):
        return False
    # Of a word that does not begin so, at most two letters are left out behind the last one.
    return word.startswith(short) or short[-1] in word[-3:]
