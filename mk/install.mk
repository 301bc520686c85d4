# SPDX-License-Identifier: GPL-2.0-or-later
# Man pages and completion come out of the program, from the table that its parser reads.

INSTALL ?= install
MAN_STAMP := $(BUILD)/man/.stamp

.PHONY: man install uninstall

man: $(MAN_STAMP) $(BUILD)/man/vqfsd.1 $(BUILD)/vqsteer.bash ## man pages and bash completion

$(MAN_STAMP): $(BUILD)/vqsteer
	@mkdir -p $(@D)
	rm -f $(@D)/vqsteer*.1
	$< help --man > $(@D)/vqsteer.1
	for c in $$($< help --commands); do $< help --man $$c > $(@D)/vqsteer-$$c.1 || exit 1; done
	@touch $@

$(BUILD)/man/vqfsd.1: $(BUILD)/vqfsd
	@mkdir -p $(@D)
	$< --man > $@.tmp && mv $@.tmp $@

$(BUILD)/vqsteer.bash: $(BUILD)/vqsteer
	$< help --completion > $@.tmp && mv $@.tmp $@

install: $(BUILD)/vqsteer $(BUILD)/vqfsd man ## install to $(DESTDIR)$(PREFIX)
	$(INSTALL) -d $(DESTDIR)$(BINDIR) $(DESTDIR)$(MANDIR)/man1 $(DESTDIR)$(COMPLETIONDIR)
	$(INSTALL) -m 0755 $(BUILD)/vqsteer $(DESTDIR)$(BINDIR)/vqsteer
	$(INSTALL) -m 0755 $(BUILD)/vqfsd $(DESTDIR)$(BINDIR)/vqfsd
	$(INSTALL) -m 0644 $(BUILD)/man/*.1 $(DESTDIR)$(MANDIR)/man1
	$(INSTALL) -m 0644 $(BUILD)/vqsteer.bash $(DESTDIR)$(COMPLETIONDIR)/vqsteer

# What this version installed, by name: no wildcard in a folder of others.
uninstall: $(BUILD)/vqsteer ## remove what install put there
	rm -f $(DESTDIR)$(BINDIR)/vqsteer $(DESTDIR)$(BINDIR)/vqfsd \
		$(DESTDIR)$(COMPLETIONDIR)/vqsteer $(DESTDIR)$(MANDIR)/man1/vqsteer.1 \
		$(DESTDIR)$(MANDIR)/man1/vqfsd.1
	for c in $$($< help --commands); do rm -f $(DESTDIR)$(MANDIR)/man1/vqsteer-$$c.1; done
